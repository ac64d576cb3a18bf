package rest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/rest/grammar"
	"daawo/supabase/internal/engine/rest/plan"
	"daawo/supabase/internal/engine/rest/schema"
)

// Version is the PostgREST version that the engine is compatible with.
const Version = "16.2"

// respond writes the reply to a successful request.
func (j *job) respond(w http.ResponseWriter, res *result, t *stopwatch) error {
	given, forced, err := res.overrides()
	if err != nil {
		return err
	}
	h, body := w.Header(), &res.body
	if _, ok := h["Vary"]; !ok {
		h.Set("Vary", "Accept, Prefer, Range")
	}
	status := http.StatusOK
	switch {
	case j.reply.Explain != "":
		j.contentType(h)
		return j.send(w, status, body, t)
	case j.plan.Mutation != nil:
		status, body = j.mutationHeaders(h, res)
	case j.plan.Call != nil && j.plan.Call.Routine.Void():
		j.readHeaders(h, res)
		status, body = http.StatusNoContent, &spool{}
	default:
		status, body = j.readHeaders(h, res)
		j.contentType(h)
	}
	if applied := j.applied(); applied != "" {
		h.Set("Preference-Applied", applied)
	}
	maps.Copy(h, given)
	if forced != 0 {
		status = forced
	}
	return j.send(w, status, body, t)
}

func (j *job) contentType(h http.Header) {
	h["Content-Type"] = j.fixed.contentType
	if j.request.negotiated {
		h.Set("Content-Profile", j.request.schema)
	}
}

func (j *job) send(w http.ResponseWriter, status int, body *spool, t *stopwatch) error {
	h := w.Header()
	if warning := j.warning(); warning != "" {
		h.Set("Warning", warning)
	}
	t.header(h)
	silent := status == http.StatusNoContent || j.http.Method == http.MethodHead
	if !silent {
		h["Content-Length"] = []string{strconv.FormatInt(body.length, 10)}
	}
	w.WriteHeader(status)
	if !silent {
		body.send(w)
	}
	return nil
}

// readHeaders sets the headers of the reply to a read or a call. It returns its status, which
// depends on the range of rows, and its body.
func (j *job) readHeaders(h http.Header, res *result) (int, *spool) {
	total := res.total
	switch j.request.Prefs.Count {
	case "planned":
		if j.plan.Call == nil {
			total = res.planned
		}
	case "estimated":
		if limit := j.state.config.MaxRows; total != nil && (limit == nil || *total > *limit) && res.planned != nil {
			total = new(max(*total, *res.planned))
		}
	}
	lower := j.request.Range.Lo
	upper := lower + res.page - 1
	h.Set("Content-Range", contentRange(lower, upper, total))
	if j.plan.Call == nil {
		h["Content-Location"] = []string{contentLocation(j.request, j.values)}
	}
	switch {
	case total == nil:
		return http.StatusOK, &res.body
	case lower > *total:
		e := apierror.Errorf(416, "PGRST103", "Requested range not satisfiable")
		e.Details = "An offset of " + strconv.FormatInt(lower, 10) + " was requested, but there are only " +
			strconv.FormatInt(*total, 10) + " rows."
		text := &spool{}
		text.set(ErrorBody(e, j.state.config.MinimalErrors))
		return e.Status, text
	case 1+upper-lower < *total:
		return http.StatusPartialContent, &res.body
	default:
		return http.StatusOK, &res.body
	}
}

// contentLocation returns the canonical address of the rows.
func contentLocation(q *request, values []string) string {
	location := "/" + q.Target.Name
	if len(q.Query.Canonical) > 0 {
		location += "?" + grammar.Canonical(q.Query.Canonical, values)
	}
	return location
}

// contentRange formats rows lower to upper of total. If upper is below lower, there are no rows.
func contentRange(lower, upper int64, total *int64) string {
	rows, all := "*", "*"
	if total != nil {
		all = strconv.FormatInt(*total, 10)
	}
	if lower <= upper && (total == nil || *total != 0) {
		rows = strconv.FormatInt(lower, 10) + "-" + strconv.FormatInt(upper, 10)
	}
	return rows + "/" + all
}

// mutationHeaders sets the headers of the reply to a mutation and returns its status and body.
func (j *job) mutationHeaders(h http.Header, res *result) (int, *spool) {
	q := j.request
	var count *int64
	if c := q.Prefs.Count; c == "exact" || c == "estimated" {
		count = &res.page
	}
	full := q.Prefs.Return == "representation"
	status := http.StatusNoContent
	switch q.Action {
	case plan.Insert:
		status = http.StatusCreated
		if q.Prefs.Resolution == "merge-duplicates" && res.page-res.updated <= 0 {
			status = http.StatusOK
		}
		if l := j.location(res); l != "" {
			h.Set("Location", l)
		}
		h.Set("Content-Range", contentRange(1, 0, count))
	case plan.Update:
		h.Set("Content-Range", contentRange(0, res.page-1, count))
	case plan.Delete:
		h.Set("Content-Range", contentRange(1, 0, count))
	}
	if !full {
		return status, &spool{}
	}
	j.contentType(h)
	switch {
	case q.Action == plan.Upsert && res.page-res.updated > 0:
		status = http.StatusCreated
	case q.Action != plan.Insert:
		status = http.StatusOK
	}
	return status, &res.body
}

// location returns the address of the inserted row by its primary key; "" for none.
func (j *job) location(res *result) string {
	if len(res.location) == 0 {
		return ""
	}
	var values []*string
	if json.Unmarshal(res.location, &values) != nil || len(values) != len(j.plan.Mutation.Key) {
		return ""
	}
	parts := make([]string, len(values))
	for i, v := range values {
		value := "is.null"
		if v != nil {
			value = "eq." + *v
		}
		parts[i] = escape(j.plan.Mutation.Key[i]) + "=" + escape(value)
	}
	return "/" + j.request.Target.Name + "?" + strings.Join(parts, "&")
}

// escape percent-encodes a part of a query string, with spaces as %20.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// applied returns the value of Preference-Applied.
func (j *job) applied() string {
	p, q := j.request.Prefs, j.request
	var list []string
	add := func(name, value string, when bool) {
		if value != "" && when {
			list = append(list, name+"="+value)
		}
	}
	mutation := j.plan.Mutation != nil
	keyed := mutation && (len(j.plan.Mutation.Key) > 0 || q.Query.OnConflict != nil)
	add("resolution", p.Resolution, q.Action == plan.Insert && keyed)
	add("missing", p.Missing, q.Action == plan.Insert || q.Action == plan.Update)
	add("return", p.Return, mutation)
	add("count", p.Count, true)
	add("tx", p.Tx, true)
	add("handling", p.Handling, true)
	if p.Timezone != nil {
		list = append(list, "timezone="+*p.Timezone)
	}
	if p.MaxAffected != nil && p.Strict() &&
		(q.Action == plan.Update || q.Action == plan.Delete || q.Action == plan.Call) {
		list = append(list, "max-affected="+strconv.FormatInt(*p.MaxAffected, 10))
	}
	return joinComma(list)
}

func joinComma(list []string) string { return strings.Join(list, ", ") }

// warning returns the value of Warning for a request that gives an embedded relation an alias and
// then refers to it by its relation name; "" for none.
func (j *job) warning() string {
	if len(j.plan.Legacy) == 0 {
		return ""
	}
	return `299 PostgRESTv` + Version +
		` "Embedded resource was referenced by relation name even though it has an alias. ` +
		"This is deprecated and will stop working in a future release. Update " + LegacyHint(j.plan.Legacy) +
		` in query string filters, orders or limits."`
}

// LegacyHint returns the changes that make a URL refer to relations by their aliases.
func LegacyHint(legacy [][2]string) string {
	var changes []string
	for _, l := range legacy {
		changes = append(changes, "`"+l[0]+"` to `"+l[1]+"`")
	}
	return joinComma(changes)
}

// overrides decodes the settings response.headers and response.status. Without response.status the
// status is 0.
func (res *result) overrides() (given http.Header, status int, err error) {
	if len(res.headers) > 0 {
		var list []map[string]string
		if json.Unmarshal(res.headers, &list) != nil ||
			slices.ContainsFunc(list, func(m map[string]string) bool { return len(m) != 1 }) {
			return nil, 0, apierror.Errorf(500, "PGRST111",
				"response.headers guc must be a JSON array composed of objects with a single key and a string value")
		}
		given = http.Header{}
		for _, m := range list {
			for name, value := range m {
				given.Add(name, value)
			}
		}
	}
	if len(res.status) > 0 {
		digits := res.status
		for i, c := range digits {
			if c < '0' || c > '9' {
				digits = digits[:i]
				break
			}
		}
		status, err = strconv.Atoi(string(digits))
		if err != nil || status < 200 || status > 599 {
			return nil, 0, apierror.Errorf(500, "PGRST112", "response.status guc must be a valid status code")
		}
	}
	return given, status, nil
}

// info answers OPTIONS with the methods that the resource allows.
func (s *state) info(w http.ResponseWriter, q *request, t *stopwatch) error {
	allow := "OPTIONS,GET,HEAD"
	switch q.resource {
	case relation:
		t, ok := s.schemaCache.Tables[q.Target]
		if !ok {
			_, err := plan.Make(s.schemaCache, &q.Request, plan.Options{})
			return err
		}
		if t.Insertable {
			allow += ",POST"
		}
		if t.Insertable && t.Updatable && len(t.Key) > 0 {
			allow += ",PUT"
		}
		if t.Updatable {
			allow += ",PATCH"
		}
		if t.Deletable {
			allow += ",DELETE"
		}
	case routine:
		p, err := plan.Make(s.schemaCache, &q.Request, plan.Options{Aggregates: true})
		if err != nil {
			return err
		}
		allow += ",POST"
		if p.Call.Routine.Volatility == schema.Volatile {
			allow = "OPTIONS,POST"
		}
	}
	h := w.Header()
	if h.Get("Access-Control-Allow-Origin") == "" {
		h.Set("Access-Control-Allow-Origin", "*")
	}
	h.Set("Allow", allow)
	h.Set("Content-Length", "0")
	h.Set("Vary", "Accept, Prefer, Range")
	t.lap("plan")
	t.lap("transaction") // there is none, but PostgREST names it
	t.header(h)
	w.WriteHeader(http.StatusOK)
	return nil
}
