package studio

import (
	"bytes"
	"errors"
	"html/template"
	"net/http"
)

// pageFrame is the frame of all pages.
const pageFrame = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
{{if .Refresh}}<meta http-equiv="refresh" content="1">{{end}}
<title>{{.Title}}</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.6 system-ui, sans-serif; max-width: 44rem; margin: 12vh auto 2rem; padding: 0 1.25rem }
h1 { font-size: 1.4rem; margin: 0 0 .5rem }
pre { padding: .75rem 1rem; border: 1px solid #8886; border-radius: .5rem; overflow-x: auto; font-size: 14px }
</style>
<main>
<h1>{{.Title}}</h1>
<p>{{.Text}}</p>
{{range .Steps}}<p>{{.Text}}</p>
<pre>{{.Command}}</pre>
{{end}}</main>
</html>
`

var pageTemplate = template.Must(template.New("").Parse(pageFrame))

// pageText is the content of a page.
type pageText struct {
	Title, Text string
	Steps       []step
	Refresh     bool // loads again every second
}

// step is a command with what it is for.
type step struct{ Text, Command string }

// waitingPage is shown while Studio starts.
var waitingPage = pageText{Title: "Supabase Studio is starting", Refresh: true,
	Text: "This takes some seconds. The page opens by itself."}

// missingPage is shown while Studio is not added. docker is "" if there is no such line.
func missingPage(command, docker string) pageText {
	p := pageText{Title: "Supabase Studio is not added to this project", Text: "The server needs no restart.",
		Steps: []step{{"Add it once. The download has about 80 MB and is checked against its published digest:",
			command + " studio add"}}}
	if docker != "" {
		p.Steps = append(p.Steps, step{"There is no archive for Intel Macs and for systems without glibc. Docker runs " +
			"Studio there, and STUDIO_URL=http://127.0.0.1:3000 makes it known to this server:", docker})
	}
	return p
}

// writePage writes a page without scripts.
func writePage(w http.ResponseWriter, status int, p pageText) {
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, p); err != nil {
		http.Error(w, p.Title, status)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Cache-Control", "no-store")
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // the client may have disconnected
}

// refuse answers a request that Studio cannot answer.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if !errors.Is(err, errNotAdded) {
		writePage(w, http.StatusServiceUnavailable, pageText{Title: "Supabase Studio did not start",
			Text: err.Error() + ". Load the page again to try again."})
		return
	}
	docker := ""
	if s.o.Docker != nil {
		if docker, err = s.o.Docker(r.Context()); err != nil {
			s.o.Log.Warn("variables for Studio in Docker", "error", err)
		}
	}
	writePage(w, http.StatusNotFound, missingPage(s.o.Command, docker))
}
