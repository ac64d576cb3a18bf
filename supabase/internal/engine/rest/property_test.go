package rest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// marker is text that a statement may hold only in a parameter or a quoted identifier.
const marker = "zq'--$$;/*\"zq"

// drawURL returns a URL with valid and hostile names and values.
func drawURL(t *rapid.T) string {
	name := rapid.SampledFrom([]string{"id", "title", "price", "author_id", "meta->x->>0", "name", `"` +
		strings.ReplaceAll(marker, `"`, `\"`) + `"`, "nope", "*"})
	value := rapid.SampledFrom([]string{"1", "x", "{1,2}", "(1,2)", marker, "", "[1,2)", "null", `("` + marker + `")`})
	op := rapid.SampledFrom([]string{"eq", "neq", "gt", "like", "ilike(any)", "in", "is", "fts", "fts(simple)", "cs",
		"cd", "ov", "sl", "adj", "isdistinct", "match", "not.eq", "eq(all)"})
	table := rapid.SampledFrom([]string{"books", "authors", "shelves", "listed_books", "folders", "loans",
		"rpc/by_author", "paints"}).Draw(t, "table")
	items := rapid.SliceOfN(rapid.OneOf(name,
		rapid.Custom(func(t *rapid.T) string { return "a:" + name.Draw(t, "field") + "::text" }),
		rapid.SampledFrom([]string{"authors!books_author_fkey(name)", "books!books_author_fkey!inner(id,covers(*))",
			"...authors!books_editor_fkey(born)", "shelves(label)", "...books!books_author_fkey(title)", "debut()",
			"folders(name)", "parent(*)", "placements(*,shelves(*))", "covers!left(color)"})), 0, 4).Draw(t, "items")
	q := url.Values{"select": {strings.Join(items, ",")}}
	for range rapid.IntRange(0, 3).Draw(t, "filters") {
		q.Add(name.Draw(t, "column"), op.Draw(t, "op")+"."+value.Draw(t, "value"))
	}
	if rapid.Bool().Draw(t, "logic") {
		q.Add("or", "("+name.Draw(t, "column")+"."+op.Draw(t, "op")+"."+value.Draw(t, "value")+",not.and(id.eq.1,"+
			name.Draw(t, "column")+".is.null))")
	}
	if rapid.Bool().Draw(t, "order") {
		q.Add("order", name.Draw(t, "column")+".desc.nullslast")
	}
	if table == "rpc/by_author" {
		q.Set("author", "1")
	}
	return "/" + table + "?" + q.Encode()
}

// TestAnyURL checks random URLs: Postgres can parse the statement, text of the request occurs only
// in parameters and quoted identifiers, and no reply has status 5xx or shows SQL.
func TestAnyURL(t *testing.T) {
	b := open(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		r := httptest.NewRequest(http.MethodGet, drawURL(t), nil)
		if text, err := b.engine.Explain(r); err == nil {
			statement, _, _ := strings.Cut(text, ";\n-- $1")
			bare := withoutQuoted(statement)
			if strings.Contains(bare, "zq") {
				t.Errorf("%s: text of the request in %s", r.URL, bare)
			}
		}
		w := httptest.NewRecorder()
		b.engine.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%s: %d %s", r.URL, w.Code, w.Body)
		}
		if body := w.Body.String(); strings.Contains(body, `"42601"`) || strings.Contains(body, "pgrst_page") {
			t.Errorf("%s: %s", r.URL, body)
		}
	})
}

// withoutQuoted removes quoted identifiers.
func withoutQuoted(sql string) string {
	var b strings.Builder
	for i, part := range strings.Split(sql, `"`) {
		if i%2 == 0 {
			b.WriteString(part)
		}
	}
	return b.String()
}
