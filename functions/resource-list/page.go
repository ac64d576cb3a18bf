package resourcelist

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	pagetexts "daawo/functions/page-texts"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// pair gives a card and its page to a template.
func pair(page listPage, c card) map[string]any { return map[string]any{"Page": page, "Card": c} }

var page = template.Must(template.New("page").Funcs(template.FuncMap{"pair": pair}).Parse(pageHTML))

// resource is a row of public.resources with its guide. An absent Somali text is "".
type resource struct {
	ID            string `db:"id"`
	Title         string `db:"title"`
	TitleSo       string `db:"title_so"`
	Description   string `db:"description"`
	DescriptionSo string `db:"description_so"`
	Category      string `db:"category"`
	CategorySo    string `db:"category_so"`
	FileURL       string `db:"file_url"`
	FileSize      int64  `db:"file_size"`
	FileType      string `db:"file_type"`
	Downloads     int64  `db:"download_count"`
	Featured      bool   `db:"is_featured"` // the guide's, if there is one
	Guide         string `db:"guide"`
	FileLanguage  string `db:"file_language"`

	// of the guide; the place is 0 for none
	Position           int    `db:"position"`
	GuideTitle         string `db:"guide_title"`
	GuideTitleSo       string `db:"guide_title_so"`
	GuideDescription   string `db:"guide_description"`
	GuideDescriptionSo string `db:"guide_description_so"`
	GuideCategory      string `db:"guide_category"`
	GuideCategorySo    string `db:"guide_category_so"`

	// of the guide, null without a sign-off
	ReviewedBy   *string    `db:"reviewed_by"`
	ReviewedRole *string    `db:"reviewed_role"`
	ReviewedOn   *time.Time `db:"reviewed_on"`
}

// review returns who reviewed the guide of a resource, or "" for a resource without a guide.
func (r resource) review(text *texts) string {
	switch {
	case r.Guide == "":
		return ""
	case r.ReviewedOn == nil:
		return text.notReviewed
	}
	return pagetexts.Review{By: *r.ReviewedBy, Role: *r.ReviewedRole, On: *r.ReviewedOn}.Done(text.Language)
}

// filter is what the list is narrowed to; "" takes all.
type filter struct{ topic, language, fileType string }

func (f filter) takes(r resource) bool {
	_, language := r.name()
	return (f.topic == "" || f.topic == r.Category) && (f.language == "" || f.language == language) &&
		(f.fileType == "" || f.fileType == typeLabel(r.FileType))
}

// listPage is what the page contains.
type listPage struct {
	*texts
	CSS      template.CSS
	Failed   bool
	Filters  []list
	Featured []card
	Cards    []card
}

// list is one list of the filter.
type list struct {
	Name, Label string
	Choices     []choice
}

type choice struct {
	Value, Name string
	Chosen      bool
}

// card is one resource, or a guide with a file per language.
type card struct {
	Category, Title, Description word
	Files                        []file
	Downloads, Review            string
}

// word is a text and its language, if it is not the page's.
type word struct{ Text, Lang string }

type file struct {
	resource
	Language, LanguageName, Type, Size string
	Own, Elsewhere                     bool // where the file is; neither if there is none yet
}

// maxFeatured is the number of featured resources that are shown (spec §9).
const maxFeatured = 2

func pageOf(text *texts, all []resource, chosen filter) listPage {
	var featured, others []resource
	for _, r := range all {
		switch {
		case !r.Featured:
			others = append(others, r)
		case len(featured) < maxFeatured:
			featured = append(featured, r)
		}
	}
	p := listPage{texts: text, Filters: filters(text, others, chosen)}
	for _, r := range featured {
		p.Featured = append(p.Featured, cards(text, []resource{r})...)
	}
	var narrowed []resource
	for _, r := range others {
		if chosen.takes(r) {
			narrowed = append(narrowed, r)
		}
	}
	p.Cards = cards(text, narrowed)
	return p
}

// filters returns the lists that have at least two choices, each in the order in which the
// resources begin.
func filters(text *texts, all []resource, chosen filter) (lists []list) {
	for _, l := range []struct {
		name, label, chosen string
		of                  func(resource) choice
	}{
		{"topic", text.Topic, chosen.topic, func(r resource) choice {
			return choice{Value: r.Category, Name: text.pick(r.Category, r.CategorySo).Text}
		}},
		{"file", text.FileLanguage, chosen.language, func(r resource) choice {
			_, language := r.name()
			return choice{Value: language, Name: languageNames[language]}
		}},
		{"type", text.FileType, chosen.fileType, func(r resource) choice {
			return choice{Value: typeLabel(r.FileType), Name: typeLabel(r.FileType)}
		}},
	} {
		var choices []choice
		known := map[string]bool{"": true}
		for _, r := range all {
			c := l.of(r)
			if !known[c.Value] {
				known[c.Value], c.Chosen = true, c.Value == l.chosen
				choices = append(choices, c)
			}
		}
		if len(choices) > 1 {
			lists = append(lists, list{l.name, l.label, choices})
		}
	}
	return lists
}

// asGuide returns the resource with the texts of its guide.
func (r resource) asGuide() resource {
	if r.GuideTitle != "" {
		r.Title, r.TitleSo = r.GuideTitle, r.GuideTitleSo
		r.Description, r.DescriptionSo = r.GuideDescription, r.GuideDescriptionSo
		r.Category, r.CategorySo = r.GuideCategory, r.GuideCategorySo
	}
	return r
}

// cards returns one card per guide or resource, in the order in which they begin, unless the staff
// gave guides another; the file in the language of the page is the first.
func cards(text *texts, all []resource) []card {
	at := map[string]int{}
	var list []card
	for _, r := range all {
		slug, language := r.name()
		key := slug
		if language == "" {
			key = r.ID
		}
		f := file{resource: r, Language: language, LanguageName: languageNames[language], Type: typeLabel(r.FileType),
			Size: size(r.FileSize), Own: isOwn(r.FileURL), Elsewhere: isElsewhere(r.FileURL)}
		i, known := at[key]
		if !known {
			at[key] = len(list)
			list = append(list, card{Files: []file{f}})
			continue
		}
		if language == text.Language {
			list[i].Files = append([]file{f}, list[i].Files...)
		} else {
			list[i].Files = append(list[i].Files, f)
		}
	}
	for i := range list {
		first := list[i].Files[0].resource
		if len(list[i].Files) > 1 {
			first = first.asGuide()
		}
		list[i].Title = text.pick(first.Title, first.TitleSo)
		list[i].Description = text.pick(first.Description, first.DescriptionSo)
		list[i].Category = text.pick(first.Category, first.CategorySo)
		var total int64
		for _, f := range list[i].Files {
			total += f.Downloads
		}
		list[i].Review = first.review(text)
		list[i].Downloads = strings.Replace(text.downloads, "{count}", strconv.FormatInt(total, 10), 1)
	}
	slices.SortStableFunc(list, func(a, b card) int { return a.Files[0].Position - b.Files[0].Position })
	return list
}

var fileName = regexp.MustCompile(`([\w-]+)\.(en|so)\.\w+$`)

// name returns the guide of a resource and the language of its file. An older row has them in the
// name of the file alone, such as pain-management.so.pdf.
func (r resource) name() (slug, language string) {
	if r.Guide != "" || r.FileLanguage != "" {
		if r.Guide == "" || r.FileLanguage == "" {
			return "", ""
		}
		return r.Guide, r.FileLanguage
	}
	if m := fileName.FindStringSubmatch(r.FileURL); m != nil {
		return m[1], m[2]
	}
	return "", ""
}

// typeLabel returns the label of a MIME type (web/src/lib/file-type.ts has the same).
func typeLabel(mime string) string {
	const office = "application/vnd.openxmlformats-officedocument."
	switch mime {
	case "application/msword":
		return "DOC"
	case office + "wordprocessingml.document":
		return "DOCX"
	case "application/vnd.ms-powerpoint":
		return "PPT"
	case office + "presentationml.presentation":
		return "PPTX"
	}
	return strings.ToUpper(mime[strings.LastIndex(mime, "/")+1:])
}

// size returns a size such as 512 B or 1.5 KB, rounded to two decimals (spec §9).
func size(bytes int64) string {
	value, unit := float64(bytes), 0
	for ; value >= 1024 && unit < 3; unit++ {
		value /= 1024
	}
	number := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(value, 'f', 2, 64), "0"), ".")
	return fmt.Sprintf("%s %s", number, []string{"B", "KB", "MB", "GB"}[unit])
}

// render sends a page that is not cached and may not load anything.
func render(w http.ResponseWriter, status int, p listPage) error {
	p.CSS = template.CSS(pageCSS)
	var b bytes.Buffer
	if err := page.Execute(&b, p); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(pageCSS))
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", p.Language)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+
		base64.StdEncoding.EncodeToString(sum[:])+"'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // a closed connection is not an error
	return nil
}
