package host

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/edge"
)

// openAPIPath is the path of the OpenAPI document below /functions/v1.
const openAPIPath = "_openapi.json"

// OpenAPI returns the OpenAPI 3.1 document of functions as JSON. Paths are relative to
// /functions/v1. Functions without a handler are left out; those without edge.JSON take and return
// any content.
func OpenAPI(functions map[string]edge.Func) ([]byte, error) {
	d := document{
		OpenAPI: "3.1.0",
		Info:    map[string]string{"title": "Edge functions", "version": "1"},
		Servers: []map[string]string{{"url": "/functions/v1"}},
		Paths:   map[string]map[string]operation{},
		Components: components{
			Schemas: map[string]*edge.Schema{"Error": errorSchema()},
			SecuritySchemes: map[string]map[string]string{
				"token":  {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
				"apikey": {"type": "apiKey", "in": "header", "name": "apikey"},
			},
		},
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		if f := functions[name].WithDefaults(); f.Handler != nil {
			d.add(name, f)
		}
	}
	return json.Marshal(d)
}

type document struct {
	OpenAPI    string                          `json:"openapi"`
	Info       map[string]string               `json:"info"`
	Servers    []map[string]string             `json:"servers"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components components                      `json:"components"`
}

type components struct {
	Schemas         map[string]*edge.Schema      `json:"schemas"`
	SecuritySchemes map[string]map[string]string `json:"securitySchemes"`
}

type operation struct {
	ID       string                `json:"operationId"`
	Body     *message              `json:"requestBody,omitempty"`
	Replies  map[string]message    `json:"responses"`
	Security []map[string][]string `json:"security"` // empty: open to all
}

type message struct {
	Description string             `json:"description,omitempty"`
	Required    bool               `json:"required,omitempty"`
	Content     map[string]content `json:"content,omitempty"`
}

type content struct {
	Schema *edge.Schema `json:"schema"`
}

func jsonContent(s *edge.Schema) map[string]content {
	return map[string]content{"application/json": {s}}
}

// errorSchema describes the JSON of edge.Error and of the errors of the host.
func errorSchema() *edge.Schema {
	text := func() *edge.Schema { return &edge.Schema{Type: "string"} }
	return &edge.Schema{
		Type: "object", Required: []string{"code", "message"},
		Properties: map[string]*edge.Schema{
			"code": text(), "message": text(), "msg": text(),
			"fields": {Type: "object", AdditionalProperties: text(), Description: "Messages by field."},
		},
	}
}

// add adds the operations of a function, one per method.
func (d *document) add(name string, f edge.Func) {
	methods := f.Methods
	if len(methods) == 0 { // every method; the document names the most frequent two
		methods = []string{http.MethodGet, http.MethodPost}
	}
	security := []map[string][]string{{"token": {}}, {"apikey": {}}}
	if f.NoVerifyJWT {
		security = []map[string][]string{}
	}
	path := map[string]operation{}
	for _, method := range methods {
		if method == http.MethodOptions {
			continue
		}
		path[strings.ToLower(method)] = operation{ID: method + " " + name, Security: security,
			Replies: d.replies(name, f, method), Body: d.body(name, f, method)}
	}
	d.Paths["/"+name] = path
}

// typed reports whether calls with a method have the types of f.JSON. A Handler beside JSON serves
// other things with GET.
func typed(f edge.Func, method string) bool {
	if f.JSON == nil {
		return false
	}
	request, _, _ := f.JSON.Schemas("")
	return request == nil || method != http.MethodGet && method != http.MethodHead
}

// component returns the start of the names of a function's schemas: AddNote for add-note.
func component(name string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '-' || r == '_' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// define adds a schema under a name and returns a reference to it.
func (d *document) define(name string, s *edge.Schema) *edge.Schema {
	d.Components.Schemas[name] = s
	return &edge.Schema{Ref: "#/components/schemas/" + name}
}

func (d *document) body(name string, f edge.Func, method string) *message {
	if !typed(f, method) {
		return nil
	}
	request, _, parts := f.JSON.Schemas(component(name))
	maps.Copy(d.Components.Schemas, parts)
	if request == nil {
		return nil
	}
	return &message{Required: true, Content: jsonContent(d.define(component(name)+"Request", request))}
}

func (d *document) replies(name string, f edge.Func, method string) map[string]message {
	failed := &edge.Schema{Ref: "#/components/schemas/Error"}
	replies := map[string]message{"default": {Description: "An error.", Content: jsonContent(failed)}}
	if !typed(f, method) {
		replies["200"] = message{Description: "The reply of the function."}
		return replies
	}
	_, reply, _ := f.JSON.Schemas(component(name))
	success := message{Description: "The reply of the function."}
	if reply != nil {
		success.Content = jsonContent(d.define(component(name)+"Reply", reply))
	}
	replies[strconv.Itoa(f.JSON.Status())] = success
	return replies
}

// openAPI serves the document to callers with a valid token or key.
func (h *Host) openAPI(w http.ResponseWriter, r *http.Request) {
	if _, refusal := h.caller(r); refusal != nil {
		refusal.write(w)
		return
	}
	text, err := OpenAPI(h.Functions)
	if err != nil {
		h.Log.ErrorContext(r.Context(), "cannot describe the functions", "error", err)
		Fail(w, http.StatusInternalServerError, "WORKER_ERROR", "The document could not be made (please check logs)")
		return
	}
	w.Header().Set("Content-Type", "application/openapi+json;version=3.1")
	_, _ = w.Write(text) // the client may have disconnected
}
