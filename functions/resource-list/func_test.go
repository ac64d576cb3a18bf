package resourcelist

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rows = []resource{
	{ID: "1", Title: "Creams (in Somali)", TitleSo: "Kareemo", Category: "Health", FileURL: "/files/creams.so.pdf",
		FileSize: 1024, FileType: "application/pdf", Featured: true},
	{ID: "2", Title: "Creams", TitleSo: "Kareemo (Ingiriisi)", Category: "Health", FileURL: "/files/creams.en.pdf",
		FileSize: 2048, FileType: "application/pdf", Featured: true},
	{ID: "3", Title: "Third", Category: "Health", FileURL: "#", FileType: "application/pdf", Featured: true},
	{ID: "4", Title: "Pain (in Somali)", TitleSo: "Xanuun", Category: "Medicine", CategorySo: "Daawo",
		FileURL: "/files/pain.so.pdf", FileSize: 101376, FileType: "application/pdf", Downloads: 2},
	{ID: "5", Title: "Poster <1>", Category: "Safety", FileURL: "https://elsewhere.example/p.png", FileSize: 512,
		FileType: "image/png"},
	{ID: "6", Title: "Pain", TitleSo: "Xanuun (Ingiriisi)", Category: "Medicine", CategorySo: "Daawo",
		FileURL: "/files/pain.en.pdf", FileSize: 102400, FileType: "application/pdf", Downloads: 3},
	{ID: "7", Title: "Soon", Category: "Safety", FileURL: "javascript:alert(1)", FileType: "application/pdf"},
}

func titles(list []card) (all []string) {
	for _, c := range list {
		all = append(all, c.Title.Text)
	}
	return all
}

func TestCards(t *testing.T) {
	p := pageOf(&english, rows, filter{})
	if got := titles(p.Featured); !slices.Equal(got, []string{"Creams (in Somali)", "Creams"}) {
		t.Errorf("featured: %q, want the first two beside each other", got)
	}
	if got := titles(p.Cards); !slices.Equal(got, []string{"Pain", "Poster <1>", "Soon"}) {
		t.Errorf("others: %q", got)
	}
	if got := titles(pageOf(&somali, rows, filter{}).Cards); !slices.Equal(got, []string{"Xanuun", "Poster <1>", "Soon"}) {
		t.Errorf("in Somali: %q", got)
	}
}

// TestReplacedFile checks that a resource stays with its guide, whatever the name of its file is.
func TestReplacedFile(t *testing.T) {
	replaced := []resource{
		{ID: "1", Title: "One", FileURL: "/files/new-1a2b.pdf", Guide: "pain", FileLanguage: "so"},
		{ID: "2", Title: "Two", FileURL: "/files/pain.en.pdf", Guide: "pain", FileLanguage: "en"},
		{ID: "3", Title: "Three", FileURL: "/files/pain.en.pdf", FileLanguage: "en"},
	}
	if got := titles(pageOf(&english, replaced, filter{}).Cards); !slices.Equal(got, []string{"Two", "Three"}) {
		t.Errorf("%q", got)
	}
}

// TestGuideTextsAndPlaces checks that a card of two files has the texts of its guide, and that
// guides have the places that the staff gave them, as on /resources/.
func TestGuideTextsAndPlaces(t *testing.T) {
	placed := []resource{
		{ID: "1", Title: "Poster", FileURL: "/files/poster.png"},
		{ID: "2", Title: "Pain, file", FileURL: "/p.pdf", Guide: "pain", FileLanguage: "en", GuideTitle: "Pain", Position: 2},
		{ID: "3", Title: "Pain, file", FileURL: "/x.pdf", Guide: "pain", FileLanguage: "so", GuideTitle: "Pain", Position: 2},
		{ID: "4", Title: "Creams, file", FileURL: "/c.pdf", Guide: "creams", FileLanguage: "en", GuideTitle: "Creams",
			Position: 1},
	}
	want := []string{"Poster", "Creams, file", "Pain"}
	if got := titles(pageOf(&english, placed, filter{}).Cards); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFilter(t *testing.T) {
	for chosen, want := range map[filter][]string{
		{topic: "Medicine"}:                  {"Pain"},
		{language: "so"}:                     {"Pain (in Somali)"},
		{fileType: "PNG"}:                    {"Poster <1>"},
		{topic: "Safety", fileType: "PDF"}:   {"Soon"},
		{topic: "Safety", language: "en"}:    nil,
		{topic: "<script>alert(1)</script>"}: nil,
	} {
		if got := titles(pageOf(&english, rows, chosen).Cards); !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", chosen, got, want)
		}
	}
}

func TestPage(t *testing.T) {
	w := httptest.NewRecorder()
	if err := render(w, http.StatusOK, pageOf(&somali, rows, filter{topic: "Medicine"})); err != nil {
		t.Fatal(err)
	}
	body := w.Body.String()
	for _, want := range []string{
		`<b>PDF</b> <span lang="so">Soomaali</span> 99 KB | <span lang="en">English</span> 100 KB`,
		`5 jeer la soo dejiyay`, `<option value="Medicine" selected>Daawo`, `<option value="Safety">Safety`,
		`<button name="resource" value="4" aria-label="Soo deji Soomaali: Xanuun">`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	w = httptest.NewRecorder()
	if err := render(w, http.StatusOK, pageOf(&english, rows, filter{})); err != nil {
		t.Fatal(err)
	}
	body = w.Body.String()
	for _, want := range []string{`Downloads: 0`, `Poster &lt;1&gt;`, `href="https://elsewhere.example/p.png"`,
		`<p class="soon">Coming Soon</p>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if regexp.MustCompile(`javascript:|<script|value="7"`).MatchString(body) {
		t.Error("the page offers an address that is none")
	}
}

func TestTextsAreComplete(t *testing.T) {
	for _, text := range []*texts{&english, &somali} {
		w := httptest.NewRecorder()
		if err := render(w, http.StatusServiceUnavailable, listPage{texts: text, Failed: true}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{text.Title, text.Failure, text.Guides, text.Disclaimer, text.Privacy} {
			if want == "" || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: the page lacks %q", text.Language, want)
			}
		}
	}
}
