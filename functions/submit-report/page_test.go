package submitreport

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// shown returns the page that shows a form with errors again, as text and parsed.
func shown(t *testing.T, text *texts, values, wrong map[string]string) (string, *html.Node) {
	t.Helper()
	p := formOf(values)
	p.text = text
	w := httptest.NewRecorder()
	if err := p.show(w, http.StatusUnprocessableEntity, text.invalidTitle, text.fillRequired, wrong); err != nil {
		t.Fatal(err)
	}
	page := w.Body.String()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return page, root
}

// each returns the elements with a tag name.
func each(root *html.Node, tag string) (list []*html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == tag {
			list = append(list, n)
		}
	}
	return list
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// TestFormPageHasSiteHeader checks the links of the header: home, the form in the other language,
// and the quick exit with the address that the report page has.
func TestFormPageHasSiteHeader(t *testing.T) {
	source, err := os.ReadFile("../../web/src/components/quick-exit.tsx")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text                   *texts
		home, other, otherCode string
	}{{&english, "/", "/so/report/", "so"}, {&somali, "/so/", "/report/", "en"}} {
		_, root := shown(t, c.text, nil, map[string]string{"phone": c.text.phoneRequired})
		links := each(each(root, "header")[0], "a")
		if len(links) != 3 || attribute(links[0], "href") != c.home || textOf(links[0]) != "Daawo" ||
			attribute(links[1], "href") != c.other || attribute(links[1], "hreflang") != c.otherCode ||
			attribute(links[1], "lang") != c.otherCode {
			t.Errorf("%s: wrong links in the header", c.text.Language)
			continue
		}
		exit := links[2]
		if attribute(exit, "data-quick-exit") == "" || attribute(exit, "rel") != "noreferrer" ||
			textOf(exit) != c.text.Exit ||
			!strings.Contains(string(source), fmt.Sprintf("%s: '%s'", c.text.Language, attribute(exit, "href"))) {
			t.Errorf("%s: the quick exit differs from the site's: %v", c.text.Language, exit.Attr)
		}
		if scripts := each(root, "script"); len(scripts) > 0 {
			t.Error("the page has a script")
		}
	}
}

// TestFormPageLinksToFields checks that the summary links to each wrong field, and that every
// control has a label.
func TestFormPageLinksToFields(t *testing.T) {
	wrong := map[string]string{}
	for _, f := range controls {
		wrong[f.Name] = "wrong"
	}
	_, root := shown(t, &english, nil, wrong)
	ids := map[string]*html.Node{}
	for n := range root.Descendants() {
		if id := attribute(n, "id"); id != "" {
			ids[id] = n
		}
	}
	var order []string
	for _, a := range each(each(root, "ul")[0], "a") {
		name := strings.TrimPrefix(attribute(a, "href"), "#")
		order = append(order, name)
		control := ids[name]
		if control == nil || attribute(control, "aria-invalid") != "true" ||
			ids[attribute(control, "aria-describedby")] == nil {
			t.Errorf("%s: no control with a message", name)
		}
	}
	if want := strings.Fields("phone product_name location issue_description photo name where_bought batch_number expiry_date"); !slices.Equal(order, want) {
		t.Errorf("the summary has %v, want %v", order, want)
	}
	var labelled []string
	for _, label := range each(root, "label") {
		if name := attribute(label, "for"); name != "" {
			labelled = append(labelled, name)
		}
	}
	if !slices.Equal(labelled, order) {
		t.Errorf("labels: %v", labelled)
	}
	if details := each(root, "details")[0]; !slices.ContainsFunc(details.Attr,
		func(a html.Attribute) bool { return a.Key == "open" }) {
		t.Error("the fold hides a wrong field")
	}
}

// TestFormPageUsesTextsOfReportPage compares the labels with the site's dictionary.
func TestFormPageUsesTextsOfReportPage(t *testing.T) {
	keys := map[string]string{"name": "name", "phone": "phone", "product_name": "productName",
		"where_bought": "whereBought", "batch_number": "batchNumber", "expiry_date": "expiryDate",
		"location": "location", "issue_description": "problem", "photo": "photo"}
	for _, text := range []*texts{&english, &somali} {
		site, err := os.ReadFile("../../web/src/i18n/" + text.Language + "/report.ts")
		if err != nil {
			t.Fatal(err)
		}
		has := map[string]string{"country": text.CountryLabel, "selectRegion": text.SelectRegion,
			"more": text.MoreFields, "submit": text.Send, "errorSummary": text.ErrorSummary,
			"requiredNote": text.RequiredNote}
		for field, key := range keys {
			has[key] = text.labels[field]
		}
		for key, label := range has {
			found := regexp.MustCompile(`(?m)^  ` + key + `: '(.*)',$`).FindStringSubmatch(string(site))
			if found == nil || found[1] != label {
				t.Errorf("%s %s is %q, on the report page %q", text.Language, key, label, found)
			}
		}
	}
}

func TestFormPageKeepsCountry(t *testing.T) {
	for _, c := range []struct {
		posted, want string
		options      int
	}{
		{"", "252", len(countries())}, {"254", "254", len(countries())}, {"+46", "46", len(countries())},
		{"33", "33", len(countries()) + 1}, {"<b>", "252", len(countries())}, {"99999", "252", len(countries())},
	} {
		page, root := shown(t, &somali, map[string]string{"country": c.posted, "phone": "61 2"}, nil)
		selects := each(root, "select")
		options, chosen := each(selects[0], "option"), []string{}
		for _, o := range options {
			if slices.ContainsFunc(o.Attr, func(a html.Attribute) bool { return a.Key == "selected" }) {
				chosen = append(chosen, attribute(o, "value"))
			}
		}
		if len(options) != c.options || !slices.Equal(chosen, []string{c.want}) {
			t.Errorf("%q: %d options, chosen %v", c.posted, len(options), chosen)
		}
		if !strings.Contains(page, "+252 Soomaaliya") || !strings.Contains(page, `value="61 2"`) {
			t.Errorf("%q: the number or the name of a country is missing", c.posted)
		}
	}
}

// TestReferenceIsShownOnce checks that the frame deletes the cookie, and that the next request says
// why it shows nothing.
func TestReferenceIsShownOnce(t *testing.T) {
	sent := httptest.NewRecorder()
	post := httptest.NewRequest(http.MethodPost, "/submit-report", nil)
	thank(sent, post, &somali, receipt{Reference: "DW-ABCD-2345"}, false)
	cookie := sent.Result().Cookies()[0]
	if sent.Header().Get("Location") != "/so/report/thank-you/#sent" || cookie.MaxAge > referenceLife {
		t.Errorf("%s, the cookie lives %d s", sent.Header().Get("Location"), cookie.MaxAge)
	}
	r := httptest.NewRequest(http.MethodGet, "/submit-report?language=so", nil)
	r.AddCookie(cookie)
	frame := httptest.NewRecorder()
	if err := showReference(frame, r); err != nil {
		t.Fatal(err)
	}
	deleted := frame.Result().Cookies()
	if !strings.Contains(frame.Body.String(), "DW-ABCD-2345") || len(deleted) != 1 || deleted[0].Name != cookie.Name ||
		deleted[0].Path != cookie.Path || deleted[0].MaxAge >= 0 {
		t.Errorf("the cookie is not deleted: %v", deleted)
	}
	again := httptest.NewRecorder()
	if err := showReference(again, httptest.NewRequest(http.MethodGet, "/submit-report?language=so", nil)); err != nil {
		t.Fatal(err)
	}
	if page := again.Body.String(); strings.Contains(page, "DW-") || !strings.Contains(page, somali.shownOnce) {
		t.Errorf("without the cookie: %s", page)
	}
}

func TestFormPageSummaryNamesEachFieldOnce(t *testing.T) {
	_, root := shown(t, &somali, nil, map[string]string{"phone": somali.phoneRequired, "expiry_date": somali.badDate})
	var links []string
	for _, a := range each(each(root, "ul")[0], "a") {
		links = append(links, textOf(a))
	}
	if want := []string{somali.phoneRequired, "Taariikhda dhicitaanka: " + somali.badDate}; !slices.Equal(links, want) {
		t.Errorf("%q, want %q", links, want)
	}
}
