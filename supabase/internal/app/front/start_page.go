package front

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"daawo/supabase/internal/base/config"
)

// startPage is the page of a stack without a site.
var startPage = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{.Project}}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }
td { padding: .2rem 1.5rem .2rem 0 } code { font-size: 15px; overflow-wrap: anywhere }
</style>
<h1>{{.Project}}</h1>
<p>The API of this project is running. It has no website; <code>--site DIR</code> serves one.</p>
<table>
{{range .Rows}}<tr><td>{{.Label}}<td>{{if .Link}}<a href="{{.Value}}">{{.Value}}</a>{{else}}<code>{{.Value}}</code>{{end}}
{{end}}</table>
<p>The URL for <code>createClient</code> is <code>{{.URL}}</code>. <code>{{.Command}} status</code> prints the keys.
</html>
`))

// Row is a line of the start page.
type Row struct {
	Label, Value string
	Link         bool
}

// StartPage serves the pages of a stack without a site: the addresses of the API at /, and 404 for
// every other path. Programs that do not accept HTML get plain text.
func StartPage(c *config.Config, url string, rows []Row) http.Handler {
	var page, text bytes.Buffer
	if err := startPage.Execute(&page, map[string]any{
		"Project": c.ProjectID, "Rows": rows, "URL": url, "Command": c.Command,
	}); err != nil {
		page.Reset() // the text is served instead
	}
	fmt.Fprint(&text, "This server has no website. Its API:\n\n")
	for _, row := range rows {
		fmt.Fprintln(&text, row.Value)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintln(w, "not found")
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Vary", "Accept")
		if page.Len() > 0 && strings.Contains(r.Header.Get("Accept"), "text/html") {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Content-Security-Policy",
				"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'")
			_, _ = w.Write(page.Bytes()) // the client may have disconnected
			return
		}
		_, _ = w.Write(text.Bytes())
	})
}
