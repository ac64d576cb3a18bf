package submitreport

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

var pages = template.Must(template.New("page").Parse(pageHTML))

// field is one control of the page that shows a form again.
type field struct {
	Name, Label, Value, Message string
	Type                        string // input's type, "textarea" or "file"
	Required                    bool
	Autocomplete                string
}

// show sends the form with the typed values and the messages.
func (p posted) show(w http.ResponseWriter, status int, title, message string, wrong map[string]string) error {
	photo, chosen := p.Values.Get("photo_url"), p.Files["photo"]
	var fields []field
	for _, f := range []field{
		{Name: "name", Type: "text", Autocomplete: "name"},
		{Name: "phone", Type: "tel", Required: true, Autocomplete: "tel"},
		{Name: "product_name", Type: "text", Required: true},
		{Name: "where_bought", Type: "text"},
		{Name: "batch_number", Type: "text"},
		{Name: "expiry_date", Type: "text"},
		{Name: "location", Type: "place", Required: true},
		{Name: "issue_description", Type: "textarea", Required: true},
		{Name: "photo", Type: "file"},
	} {
		f.Label, f.Value, f.Message = p.text.labels[f.Name], p.Values.Get(f.Name), wrong[f.Name]
		if f.Name == "phone" {
			f.Value = *p.fields().Phone // with the calling code: this page has no country field
		}
		if f.Name == "photo" && f.Message == "" && photo == "" && chosen.Content != nil {
			f.Message = p.text.chooseAgain // browsers do not refill a file field
		}
		fields = append(fields, f)
	}
	data := map[string]any{
		"Language": p.text.language, "Title": title, "Message": message, "Fields": fields,
		"Required": p.text.required, "Send": p.text.send, "Photo": photo, "PhotoSum": p.photoSum(nil), "PhotoClaim": p.Values.Get("photo_claim"), "PhotoKept": p.text.photoKept,
		"Home": home(p.text), "Contact": home(p.text) + "contact/", "ContactUs": p.text.contactUs, "Back": p.text.back,
		"Regions": regions(), "Known": knownPlaces()[fold(p.Values.Get("location"))] != place{}, "CSS": template.CSS(pageCSS),
	}
	return render(w, status, "form", p.text.language, data)
}

func home(t *texts) string {
	if t.language == "so" {
		return "/so/"
	}
	return "/"
}

// render sends a page that is not cached and may not load anything.
func render(w http.ResponseWriter, status int, name, language string, data map[string]any) error {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", language)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src "+cssHash+"; form-action 'self'; base-uri 'none'; frame-ancestors 'self'")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // a closed connection is not an error
	return nil
}

var cssHash = func() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// referenceCookie carries the reference to the thank-you page in a browser without JavaScript. An address would stay in the
// history of a shared phone; this cookie lives ten minutes, is HttpOnly and is sent to this function only. The prerendered
// page shows it in a frame.
const referenceCookie = "daawo_reference"

func thank(w http.ResponseWriter, r *http.Request, t *texts, saved receipt, photoLost bool) {
	value := saved.Reference
	if photoLost {
		value += ".without-photo"
	}
	http.SetCookie(w, &http.Cookie{
		Name: referenceCookie, Value: value, Path: "/functions/v1/submit-report", MaxAge: 600,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.Header.Get("X-Forwarded-Proto") == "https",
	})
	w.Header().Set("Location", home(t)+"report/thank-you/")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
}

// showReference replies to the frame on the thank-you page: the reference, or an empty page without one.
func showReference(w http.ResponseWriter, r *http.Request) error {
	text := textIn(languageOf(r, r.URL.Query().Get("language")))
	data := map[string]any{"Language": text.language, "CSS": template.CSS(pageCSS), "Label": text.yourReference}
	if c, err := r.Cookie(referenceCookie); err == nil {
		reference, photo, _ := strings.Cut(c.Value, ".")
		if len(reference) == len("DW-0000-0000") {
			data["Reference"] = reference
		}
		if photo != "" {
			data["Note"] = text.noPhoto
		}
	}
	return render(w, http.StatusOK, "reference", text.language, data)
}
