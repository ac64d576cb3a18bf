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
	Type                        string // input's type, "phone", "place", "textarea" or "file"
	Required                    bool
}

// Link returns the text of the link to the field in the summary: the message, after the label
// unless it begins with that.
func (f field) Link() string {
	if strings.HasPrefix(f.Message, f.Label) {
		return f.Message
	}
	return f.Label + ": " + f.Message
}

// formPage is what the page that shows a form again contains.
type formPage struct {
	*texts
	Title, Message       string
	Required, More       []field
	Unfold               bool // whether the optional fields are visible
	Wrong                []field
	Country              string // calling code of the chosen country
	Asked                string // the phone number that the page asks about
	Countries            []country
	Regions              []region
	KnownPlace           bool // whether the list of places has the chosen one
	Photo, Sum, Claim    string
	Home, Other, Leaving string // addresses: the home page, the form in the other language, the page of the quick exit
	CSS                  template.CSS
}

// controls are the fields in the order of the report page: the required ones, then the optional
// ones.
var controls = []field{
	{Name: "phone", Type: "phone", Required: true},
	{Name: "product_name", Type: "text", Required: true},
	{Name: "location", Type: "place", Required: true},
	{Name: "issue_description", Type: "textarea", Required: true},
	{Name: "photo", Type: "file"},
	{Name: "name", Type: "text"},
	{Name: "where_bought", Type: "text"},
	{Name: "batch_number", Type: "text"},
	{Name: "expiry_date", Type: "text"},
}

// show sends the form with the typed values and the messages.
func (p posted) show(w http.ResponseWriter, status int, title, message string, wrong map[string]string) error {
	photo, chosen := p.Values.Get("photo_url"), p.Files["photo"]
	page := formPage{
		texts: p.text, Title: title, Message: message, Photo: photo, Sum: p.photoSum(nil),
		Claim: p.Values.Get("photo_claim"), Regions: regions(),
		KnownPlace: knownPlaces()[fold(p.Values.Get("location"))] != place{}, Home: home(p.text),
		Other: home(p.text.other()) + "report/", Leaving: neutralPages[p.text.Language], CSS: template.CSS(pageCSS),
	}
	if wrong["phone"] == p.text.phoneDoubt {
		page.Asked = p.Values.Get("phone")
	}
	page.Country, page.Countries = countriesWith(p.Values.Get("country"))
	for _, f := range controls {
		f.Label, f.Value, f.Message = p.text.labels[f.Name], p.Values.Get(f.Name), wrong[f.Name]
		if f.Name == "photo" && f.Message == "" && photo == "" && chosen.Content != nil {
			f.Message = p.text.chooseAgain // browsers do not refill a file field
		}
		if f.Message != "" {
			page.Wrong = append(page.Wrong, f)
		}
		if f.Required {
			page.Required = append(page.Required, f)
			continue
		}
		page.More = append(page.More, f)
		page.Unfold = page.Unfold || f.Value != "" || f.Message != "" || f.Name == "photo" && photo != ""
	}
	return render(w, status, "form", p.text.Language, page)
}

// neutralPages are the pages that the quick exit opens (web/src/components/quick-exit.tsx has the
// same).
var neutralPages = map[string]string{"en": "https://en.wikipedia.org/wiki/Main_Page",
	"so": "https://so.wikipedia.org/wiki/"}

func home(t *texts) string {
	if t.Language == "so" {
		return "/so/"
	}
	return "/"
}

// render sends a page that is not cached and may not load anything.
func render(w http.ResponseWriter, status int, name, language string, data any) error {
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
	h.Set("Content-Security-Policy", "default-src 'none'; style-src "+cssHash+
		"; form-action 'self'; base-uri 'none'; frame-ancestors 'self'")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // a closed connection is not an error
	return nil
}

var cssHash = func() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// referenceCookie carries the reference to the thank-you page in a browser without JavaScript. An
// address would stay in the history of a shared phone. This cookie is HttpOnly, is sent to this
// function only, and is deleted when the reference has been shown, or after referenceLife. The
// prerendered page shows the reference in a frame.
const referenceCookie = "daawo_reference"

// referenceLife is how long the thank-you page may take to load, in seconds.
const referenceLife = 120

// cookieOf returns the cookie with a value; seconds below zero delete it.
func cookieOf(r *http.Request, value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: referenceCookie, Value: value, Path: "/functions/v1/submit-report", MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.Header.Get("X-Forwarded-Proto") == "https",
	}
}

// thank redirects to the thank-you page. Its fragment selects the text for a stored report: the
// page without it says that no report was sent.
func thank(w http.ResponseWriter, r *http.Request, t *texts, saved receipt, photoLost bool) {
	value := saved.Reference
	if photoLost {
		value += ".without-photo"
	}
	http.SetCookie(w, cookieOf(r, value, referenceLife))
	w.Header().Set("Location", home(t)+"report/thank-you/#sent")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
}

// showReference replies to the frame on the thank-you page with the reference, and deletes the
// cookie. The next request gets a note that the reference is shown once.
func showReference(w http.ResponseWriter, r *http.Request) error {
	text := textIn(languageOf(r, r.URL.Query().Get("language")))
	data := map[string]any{"Language": text.Language, "CSS": template.CSS(pageCSS), "Label": text.yourReference,
		"Note": text.shownOnce}
	if c, err := r.Cookie(referenceCookie); err == nil {
		reference, photo, _ := strings.Cut(c.Value, ".")
		if len(reference) == len("DW-0000-0000") {
			data["Reference"], data["Note"] = reference, ""
		}
		if photo != "" {
			data["Note"] = text.noPhoto
		}
		http.SetCookie(w, cookieOf(r, "", -1))
	}
	return render(w, http.StatusOK, "reference", text.Language, data)
}
