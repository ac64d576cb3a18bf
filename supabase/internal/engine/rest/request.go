package rest

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/grammar"
	"daawo/supabase/internal/engine/rest/plan"
	"daawo/supabase/internal/engine/rest/schema"
)

// request is a parsed HTTP request.
type request struct {
	plan.Request
	resource   resource
	schema     string
	negotiated bool // a profile header chose the schema, or could have chosen it
	accept     []ast.MediaType
	path       string // as sent, still escaped
}

type resource uint8

const (
	root resource = iota
	relation
	routine
)

// parse reads the parts of a request that need neither schema nor database. It keeps no string that
// shares the memory of the whole URL.
func (s *state) parse(r *http.Request, shape string) (*request, error) {
	c := &s.config
	q := &request{path: strings.Clone(r.URL.EscapedPath())}
	q.Method = strings.Clone(r.Method)
	q.Prefs = grammar.Prefer(r.Header.Values("Prefer"), c.TxEnd.Override)
	name, err := q.locate(c)
	if err != nil {
		return nil, err
	}
	if err := q.profile(c, r); err != nil {
		return nil, err
	}
	q.Target = schema.Name{Schema: q.schema, Name: name}
	if q.resource == routine && c.RootFunction != nil && q.path == "/" && c.RootFunction.Schema != "" {
		q.Target = *c.RootFunction
	}
	if err := q.setAction(r.Method); err != nil {
		return nil, err
	}
	query, qerr := grammar.Query(shape, q.Action == plan.Call && r.Method != http.MethodPost)
	if qerr != nil {
		e := apierror.Errorf(400, "PGRST100", "%s", qerr.Message)
		e.Details = qerr.Details
		return nil, e
	}
	q.Query = query
	q.Args = query.Params
	if err := q.setRange(r); err != nil {
		return nil, err
	}
	q.accept = grammar.Accept(r.Header.Values("Accept"))
	q.ContentType = ast.MediaType{Kind: ast.MediaJSON}
	if t := r.Header.Get("Content-Type"); t != "" {
		q.ContentType = grammar.MediaType(t)
	}
	return q, q.readBody(r)
}

// locate sets the resource that the path names and returns its name: /, /{relation} or
// /rpc/{function}.
func (q *request) locate(c *Config) (string, error) {
	path := strings.TrimPrefix(q.path, "/")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if d, err := url.PathUnescape(p); err == nil {
			parts[i] = strings.ToValidUTF8(d, "\uFFFD")
		}
	}
	switch {
	case path == "" && c.OpenAPI == OpenAPIDisabled:
		return "", apierror.Errorf(404, "PGRST126", "Root endpoint metadata is disabled")
	case path == "" && c.RootFunction != nil:
		q.resource = routine
		return c.RootFunction.Name, nil
	case path == "":
		q.resource = root
		return "", nil
	case len(parts) == 1:
		q.resource = relation
		return parts[0], nil
	case len(parts) == 2 && parts[0] == "rpc":
		q.resource = routine
		return parts[1], nil
	default:
		return "", apierror.Errorf(404, "PGRST125", "Invalid path specified in request URL")
	}
}

// profile chooses the schema by Accept-Profile or, for methods that write, Content-Profile.
func (q *request) profile(c *Config, r *http.Request) error {
	header := "Accept-Profile"
	switch r.Method {
	case http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete:
		header = "Content-Profile"
	}
	values, given := r.Header[header]
	if !given {
		q.schema, q.negotiated = c.Schemas[0], len(c.Schemas) > 1
		return nil
	}
	q.schema, q.negotiated = values[0], true
	if !slices.Contains(c.Schemas, q.schema) {
		e := apierror.Errorf(406, "PGRST106", "Invalid schema: %s", q.schema)
		e.Hint = new("Only the following schemas are exposed: " + strings.Join(c.Schemas, ", "))
		return e
	}
	return nil
}

// setAction sets what the method does to the resource.
func (q *request) setAction(method string) error {
	switch q.resource {
	case routine:
		q.Action = plan.Call
		switch method {
		case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions:
			return nil
		}
		return apierror.Errorf(405, "PGRST101", "Cannot use the %s method on RPC", method)
	case relation:
		switch method {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
			q.Action = plan.Read
			return nil
		case http.MethodPost:
			q.Action = plan.Insert
			return nil
		case http.MethodPut:
			q.Action = plan.Upsert
			return nil
		case http.MethodPatch:
			q.Action = plan.Update
			return nil
		case http.MethodDelete:
			q.Action = plan.Delete
			return nil
		}
	case root:
		switch method {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
			return nil
		}
	}
	return apierror.Errorf(405, "PGRST117", "Unsupported HTTP method: %s", method)
}

// setRange combines the Range header with limit and offset.
func (q *request) setRange(r *http.Request) error {
	header := ast.AllRows()
	limit := q.Query.Range
	if r.Method == http.MethodGet {
		var huge ast.Huge
		header, huge = grammar.Range(r.Header.Get("Range"))
		if _, limited := limit.Limit(); !limited && huge.Limit != "" {
			q.Query.Huge.Limit = huge.Limit
		}
		if huge.Offset != "" {
			q.Query.Huge.Offset = huge.Offset
		}
	}
	q.Range = header.Intersect(limit)
	if limit.LimitZero() {
		q.Range = ast.Range{Lo: 0, Hi: -1}
	}
	if q.Range.Empty() && !limit.LimitZero() {
		e := apierror.Errorf(416, "PGRST103", "Requested range not satisfiable")
		e.Details = "Limit should be greater than or equal to zero."
		if header.Empty() {
			e.Details = "The lower boundary must be lower than or equal to the upper boundary in the Range header."
		}
		return e
	}
	if r.Method == http.MethodPut && !q.Range.IsAll() {
		return apierror.Errorf(400, "PGRST114", "limit/offset querystring parameters are not allowed for PUT")
	}
	return nil
}

// readBody decodes the body of a request that writes or calls a function.
func (q *request) readBody(r *http.Request) error {
	switch {
	case q.Action == plan.Insert, q.Action == plan.Update, q.Action == plan.Upsert:
	case q.Action == plan.Call && r.Method == http.MethodPost:
	default:
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return apierror.Errorf(http.StatusRequestTimeout, "PGRSTX01",
			"The client stopped sending the request body").WithCause(err)
	}
	if err != nil {
		return apierror.Errorf(400, "PGRST102", "Empty or invalid json").WithCause(err)
	}
	columns := q.Query.Columns
	if q.Action == plan.Upsert {
		columns = nil
	}
	p, werr := readPayload(body, q.ContentType, columns, q.Action)
	if werr != nil {
		return werr
	}
	q.Body, q.Keys, q.HasBody = p.body, p.keys, true
	if p.args != nil {
		q.Args = p.args
	}
	return nil
}
