package front

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"daawo/supabase/internal/gateway"
)

// StartPage is the content of the page of a stack without a site.
type StartPage struct {
	Project, Command string
	Version          string // "" is not shown
	Links            []Row  // applications
	Addresses        []Row  // of the API
	// The following are shown to browsers of this machine only.
	Keys       []Row
	KeysNote   string
	Snippets   []Row // how to connect
	Functions  []Row
	Migrations []Row // the newest first
	Applied    int   // number of migrations
	Problem    string
}

// Row is a line of the start page.
type Row struct{ Label, Value, Text string }

// public returns the page without keys and without names of the project's parts.
func (p StartPage) public() StartPage {
	return StartPage{Project: p.Project, Command: p.Command, Links: p.Links, Addresses: p.Addresses}
}

//go:embed start_page.html
var startPageText string

var startPage = template.Must(template.New("").Parse(startPageText))

// copyScript shows the buttons, which need a script, and lets them copy.
const copyScript = `for (const b of document.querySelectorAll("[data-copy]")) {
  b.hidden = false
  b.onclick = async () => {
    await navigator.clipboard.writeText(b.dataset.copy)
    b.textContent = "Copied"
    setTimeout(() => { b.textContent = "Copy" }, 1500)
  }
}`

// startPolicy allows the style of the page and its one script, and no request.
func startPolicy() string {
	sum := sha256.Sum256([]byte(copyScript))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
}

// ServeStartPage serves the pages of a stack without a site: content at /, and 404 for every other
// path. Programs that do not accept HTML get the addresses as plain text. local says that the stack
// serves this machine only; keys are shown in that case alone. Only for such a page content gets
// private: it then asks the database.
func ServeStartPage(local bool, content func(ctx context.Context, private bool) StartPage) http.Handler {
	policy := startPolicy()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintln(w, "not found")
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Vary", "Accept")
		html := strings.Contains(r.Header.Get("Accept"), "text/html")
		here := html && local && gateway.LocalHost(r.Host)
		page := content(r.Context(), here)
		if !here {
			page = page.public()
		}
		var out bytes.Buffer
		if html && startPage.Execute(&out, struct {
			StartPage
			Local  bool
			Script template.JS
		}{page, here, copyScript}) == nil {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Content-Security-Policy", policy)
			_, _ = w.Write(out.Bytes()) // the client may have disconnected
			return
		}
		out.Reset()
		fmt.Fprint(&out, "This server has no website. Its API:\n\n")
		for _, row := range page.Addresses {
			fmt.Fprintln(&out, row.Value)
		}
		_, _ = w.Write(out.Bytes())
	})
}
