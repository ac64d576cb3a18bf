package housetest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Maximum characters of prose in a cell of a table. Code and addresses of links do not count.
const (
	maxCell       = 180
	maxStrictCell = 120
)

// strictPages are pages that people read from top to bottom. Their longer texts are sentences below
// the table.
var strictPages = []string{"SECURITY.md", "docs/auth.md", "docs/reliability.md", "docs/architecture.md"}

var (
	separator  = regexp.MustCompile(`([^\\])\|`)
	linkTarget = regexp.MustCompile(`\]\([^)]*\)`)
	codeSpan   = regexp.MustCompile("`[^`]*`")
)

// longCells returns the prose of the cells of tables with more than most characters.
func longCells(text string, most int) (long []string) {
	for line := range strings.Lines(fence.ReplaceAllString(text, "")) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		for cell := range strings.SplitSeq(separator.ReplaceAllString(line, "$1\x00"), "\x00") {
			prose := strings.Trim(codeSpan.ReplaceAllString(linkTarget.ReplaceAllString(cell, "]"), ""), "| \n")
			if utf8.RuneCountInString(prose) > most {
				long = append(long, prose)
			}
		}
	}
	return long
}

// TestDocsTableCells keeps essays out of tables.
func TestDocsTableCells(t *testing.T) {
	for _, p := range pages(t) {
		if p.name == "docs/configuration.md" {
			continue // generated from the descriptions of the variables
		}
		most := maxCell
		if slices.Contains(strictPages, p.name) {
			most = maxStrictCell
		}
		for _, cell := range longCells(p.text, most) {
			t.Errorf("%s has a cell of more than %d characters: %s", p.name, most, cell)
		}
	}
}

func TestLongCells(t *testing.T) {
	most, more := strings.Repeat("é", 10), strings.Repeat("x", 11)
	text := "| " + most + " | a\\|" + more + " |\n" + more + "\n| [a](" + more + ") `" + more + "` |\n```\n| " + more +
		" |\n```\n"
	if got := longCells(text, 10); !slices.Equal(got, []string{`a\|` + more}) {
		t.Errorf("%q", got)
	}
}

// pinned are the projects in README's table with their images in docker/compose.yaml.
var pinned = map[string]string{
	"PostgREST":   "postgrest/postgrest",
	"GoTrue":      "supabase/gotrue",
	"storage-api": "supabase/storage-api",
	"Realtime":    "supabase/realtime",
}

// wrongVersions returns what is wrong with the versions that README's table names.
func wrongVersions(readme, compose string) (wrong []string) {
	for project, image := range pinned {
		tags := regexp.MustCompile(`(?m)^\s+image: `+image+`:(\S+)$`).FindAllStringSubmatch(compose, -1)
		if len(tags) != 1 {
			wrong = append(wrong, fmt.Sprintf("docker/compose.yaml names the image %s %d times", image, len(tags)))
			continue
		}
		named := regexp.MustCompile(`(?m)^\|[^|\n]+\| `+project+` (v[0-9.]+) \|`).FindAllStringSubmatch(readme, -1)
		if len(named) != 1 || named[0][1] != tags[0][1] {
			wrong = append(wrong, fmt.Sprintf("README.md should name %s %s once in its table: %q", project, tags[0][1],
				named))
		}
	}
	return wrong
}

// TestReadmeVersions compares the versions in README's table with the images of the compose form.
func TestReadmeVersions(t *testing.T) {
	for _, v := range wrongVersions(read(t, "README.md"), read(t, "docker/compose.yaml")) {
		t.Error(v)
	}
}

func TestWrongVersions(t *testing.T) {
	var readme, compose string
	for project, image := range pinned {
		readme += "| part | " + project + " v1.2.3 | served |\n"
		compose += "    image: " + image + ":v1.2.3\n"
	}
	if wrong := wrongVersions(readme, compose); wrong != nil {
		t.Errorf("%q", wrong)
	}
	for _, other := range []string{"v1.2", "v1.2.30", "v1", ""} {
		changed := strings.Replace(readme, "| GoTrue v1.2.3 |", "| GoTrue "+other+" |", 1)
		if wrong := wrongVersions(changed, compose); len(wrong) != 1 {
			t.Errorf("%q: %q", other, wrong)
		}
	}
	if wrong := wrongVersions(readme, ""); len(wrong) != len(pinned) {
		t.Errorf("without images: %q", wrong)
	}
}
