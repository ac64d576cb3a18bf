// Command pictures draws the terminal pictures of docs/administration.md. It starts a stack, sends
// four invented reports, runs administration commands and writes their output as SVG. Local
// addresses become example.org.
//
//	make build && go run ./scripts/pictures
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"daawo/scripts/server"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := run(ctx, "docs/images"); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// reports are the invented reports, oldest first.
var reports = []string{
	`{"product_name":"Whitening cream without a label","issue_description":"Maqaarka ayaa i gubanaya.","location":"Togdheer"}`,
	`{"product_name":"Amoxicillin 500 mg","issue_description":"The tablets crumble and smell.","location":"Banaadir, Hodan","batch_number":"A-113","expiry_date":"2026-02-28"}`,
	`{"product_name":"Cream without a label","issue_description":"My skin burns since Tuesday, where I put the cream.","location":"Banaadir, Hodan","where_bought":"market","phone":"+252 00 000 0000","photo_url":"1790000000000.png"}`,
	`{"product_name":"Pain killer, two names on one box","issue_description":"Which one is it?","location":"Bari, Boosaaso"}`,
}

func run(ctx context.Context, dir string) error {
	st, err := server.New(ctx, "bin/daawo")
	if err != nil {
		return err
	}
	defer st.Close()
	var photo bytes.Buffer
	if err := png.Encode(&photo, image.NewGray(image.Rect(0, 0, 640, 480))); err != nil {
		return err
	}
	if _, err := post(ctx, st, "/storage/v1/object/report-photos/1790000000000.png", "image/png", &photo); err != nil {
		return err
	}
	var references []string
	for _, report := range reports {
		text, err := post(ctx, st, "/functions/v1/submit-report", "application/json", strings.NewReader(report))
		if err != nil {
			return err
		}
		var reply struct{ Reference string }
		if err := json.Unmarshal(text, &reply); err != nil {
			return err
		}
		references = append(references, reply.Reference)
	}
	leaflet := filepath.Join(st.Data(), "leaflet.pdf")
	if err := os.WriteFile(leaflet, []byte("%PDF-1.7\n"), 0o600); err != nil {
		return err
	}
	d := &drawer{ctx: ctx, st: st, dir: dir}
	d.scene("admin-triage", "reports list --status new", "reports set "+references[2]+
		` --status reviewing --notes "called back on Tuesday"`)
	d.scene("admin-photo", "reports show "+references[2])
	d.scene("admin-export", "reports export --since 7d --output reports.csv", "!cut -d, -f1-6 reports.csv")
	d.scene("admin-delete", "reports delete "+references[0]+" --yes", "reports show "+references[0])
	d.scene("admin-publish",
		`resources add --title "Safe storage" --title-so "Kaydinta daawada" --category Safety --icon Shield --file leaflet.pdf`)
	d.scene("admin-published", "resources publish "+d.id, "resources list | head -n 5")
	return d.err
}

func post(ctx context.Context, st *server.Stack, path, contentType string, body io.Reader) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, st.Get("API_URL")+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("apikey", st.Get("ANON_KEY"))
	r.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s %s", path, res.Status, text)
	}
	return text, err
}

// drawer runs commands and draws their output. After an error it does nothing.
type drawer struct {
	ctx context.Context
	st  *server.Stack
	dir string
	id  string // of the resource that a command added
	err error
}

var (
	added = regexp.MustCompile(`added (\S+);`)
	local = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	// notFound matches the error for a missing report.
	notFound = regexp.MustCompile(`not found|there is none`)
	token    = regexp.MustCompile(`(token=.{12})\S*`)
)

// scene draws commands with their output, one below the other. A command that begins with ! is a
// plain shell command.
func (d *drawer) scene(name string, commands ...string) {
	var lines []string
	for _, command := range commands {
		shown := "bin/daawo " + command
		if own, ok := strings.CutPrefix(command, "!"); ok {
			shown = own
		}
		if d.err != nil {
			return
		}
		program, err := filepath.Abs("bin")
		if err != nil {
			d.err = err
			return
		}
		cmd := exec.CommandContext(d.ctx, "sh", "-c", strings.Replace(shown, "bin/daawo", program+"/daawo", 1))
		cmd.Dir = d.st.Data()
		cmd.Env = append(os.Environ(), "DAAWO_DATA="+d.st.Data(), "LANG=C.UTF-8", "TZ=UTC")
		out, err := cmd.CombinedOutput()
		if err != nil && !notFound.Match(out) { // a deleted report is expected to be missing
			d.err = fmt.Errorf("%s: %w: %s", shown, err, out)
			return
		}
		if match := added.FindSubmatch(out); match != nil {
			d.id = string(match[1])
		}
		text := token.ReplaceAllString(local.ReplaceAllString(string(out), "https://example.org"), "$1…")
		lines = append(lines, "$ "+shown)
		lines = append(lines, strings.Split(strings.TrimRight(text, "\n"), "\n")...)
	}
	d.err = os.WriteFile(filepath.Join(d.dir, name+".svg"), []byte(svg(lines)), 0o644)
}

// svg draws lines of a terminal.
func svg(lines []string) string {
	const column, row, margin = 8.4, 20, 16
	widest := 0
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(line))
	}
	var b strings.Builder
	width, height := int(float64(widest)*column)+2*margin, len(lines)*row+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d">`+"\n",
		width, height)
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#16202a"/>` + "\n")
	b.WriteString(`<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#dfe7ee">` + "\n")
	for i, line := range lines {
		fill := ""
		if strings.HasPrefix(line, "$ ") {
			fill = ` fill="#7fd1ae"`
		}
		// SVG collapses plain spaces
		fmt.Fprintf(&b, `<text x="%d" y="%d"%s>%s</text>`+"\n", margin, margin+(i+1)*row-5, fill,
			html.EscapeString(strings.ReplaceAll(line, " ", "\u00a0")))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}
