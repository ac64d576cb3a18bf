package housetest

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wordException allows a word of a rule in some files.
type wordException struct {
	files  string // pattern of paths below the top folder
	line   string // pattern of the lines that may contain the word
	reason string
}

// wordRule forbids words in some files.
type wordRule struct {
	name  string
	words *regexp.Regexp
	// each match contains one of these, in lower case; a text without them needs no pattern
	parts      []string
	files      func(name string) bool
	exceptions []wordException
	least      int // files that the rule checks at least; 0 for 300
}

// productRule keeps the words of the product out of the stack.
var productRule = wordRule{
	name: "word of the product",
	words: regexp.MustCompile(`(?i)report-photos|submit-report|track-download|weekly-digest|public\.reports|public\.resources|` +
		`\bwhatsapp\b|\bsomali\w*|\bmedicines?\b|\bpharmac\w*|\bDW-[0-9A-Z]{4}\b|\bvisitors?\b`),
	parts: []string{"report-photos", "submit-report", "track-download", "weekly-digest", "public.re", "whatsapp",
		"somali", "medicine", "pharmac", "dw-", "visitor"},
	files: func(name string) bool {
		return within(name, "supabase/internal", "supabase/stack") && !within(name, "supabase/internal/housetest")
	},
	exceptions: []wordException{
		{`^supabase/internal/engine/auth/`, `(?i)whatsapp`, "a channel of Twilio, with GoTrue's names and messages"},
		{`^supabase/internal/app/auth\.go$`, `WhatsApp: +in\.SMS\.Twilio\.Enabled`, "the setting of that channel"},
	},
}

// durableRule keeps folders and names that a power cut could take back out of the packages whose
// files must stay.
var durableRule = wordRule{
	name:  "use atomicfile: a power cut undoes it",
	words: regexp.MustCompile(`\bos\.(MkdirAll|Rename)\(`),
	parts: []string{"os.mkdirall(", "os.rename("},
	files: func(name string) bool {
		return within(name, "supabase/internal/app/datadir",
			"supabase/internal/app/keyring", "supabase/internal/base/keys", "supabase/internal/database/backup/physical",
			"supabase/internal/engine/storage/backend", "supabase/internal/functions/deploy")
	},
	exceptions: []wordException{
		{`_test\.go$`, ``, "tests"},
		{`^supabase/internal/database/backup/physical/restore\.go$`, `work`, "the folder of a restore that is not done"},
		{`^supabase/internal/database/backup/physical/extract\.go$`, `target`, "syncs it after the undo is noted"},
	},
	least: 60,
}

// banned are words that have a plainer form. Each is found as a whole word, and as a part of a name
// in camel case.
const banned = "whoever whomever whom nobody somebody anybody everybody anew afresh meanwhile " +
	"thereby wherein therein thereof hitherto henceforth"

// bannedRule keeps the banned words out of the repository. Texts for readers of the site are free.
var bannedRule = wordRule{
	name:  "banned word",
	words: bannedWords(),
	parts: strings.Fields(banned),
	files: func(name string) bool {
		return hasWords(name) && !within(name,
			"web/src/i18n", "web/src/content", "web/public", "supabase/seed", "supabase/seed.sql", // texts for readers
			"LICENSE", "supabase/internal/housetest/words_test.go",
		) && !strings.Contains(name, "/testdata/fuzz/")
	},
	exceptions: []wordException{
		{`^supabase/migrations/20260901000[0-9]{3}_`, ``, "an applied migration never changes"},
		{`^supabase/.*testdata/release-1/migrations/`, ``, "a copy of applied migrations"},
		{`^supabase/internal/database/server/owner\.go$`, `"nobody"`, "the Unix user"},
		{`^supabase/internal/database/server/options\.go$`, `daawo, postgres, nobody\.\s*$`, "the Unix user"},
		{`^docs/reliability\.md$`, "`nobody`", "the Unix user"},
	},
}

// hasWords reports whether the rule of banned words holds for files of this type.
func hasWords(name string) bool {
	types := []string{".go", ".ts", ".tsx", ".mts", ".css", ".sql", ".sh", ".md", ".yaml", ".yml", ".txtar"}
	return slices.Contains(types, path.Ext(name)) ||
		slices.Contains([]string{"Makefile", "Dockerfile"}, path.Base(name))
}

// bannedWords returns a pattern of the banned words. In a name, a word begins with a capital or at
// the start, and ends before a lower-case letter.
func bannedWords() *regexp.Regexp {
	words := strings.Fields(banned)
	lower := strings.Join(words, "|")
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	title := strings.Join(words, "|")
	return regexp.MustCompile(`(?:^|[^A-Za-z])(?:` + lower + `)(?:[^a-z]|$)|(?:` + title + `)(?:[^a-z]|$)|` +
		`(?:^|[^A-Za-z])(?:` + strings.ToUpper(lower) + `)(?:[^A-Za-z]|$)`)
}

// find returns the lines of a file that break the rule. It marks the exceptions that it used.
func (r wordRule) find(name, text string, used map[int]bool) (lines []string) {
	lower := strings.ToLower(text)
	if !slices.ContainsFunc(r.parts, func(part string) bool { return strings.Contains(lower, part) }) {
		return nil
	}
	for line := range strings.Lines(text) {
		if !r.words.MatchString(line) {
			continue
		}
		i := slices.IndexFunc(r.exceptions, func(e wordException) bool {
			return regexp.MustCompile(e.files).MatchString(name) && regexp.MustCompile(e.line).MatchString(line)
		})
		if i < 0 {
			lines = append(lines, strings.TrimSpace(line))
		} else {
			used[i] = true
		}
	}
	return lines
}

// check applies the rule to all tracked files, and checks that each exception is needed.
func (r wordRule) check(t *testing.T) {
	t.Helper()
	used := map[int]bool{}
	files := 0
	for _, name := range tracked(t) {
		if !r.files(name) {
			continue
		}
		files++
		for _, line := range r.find(name, read(t, name), used) {
			t.Errorf("%s: %s %q in: %.160s", name, r.name, strings.TrimSpace(r.words.FindString(line)), line)
		}
	}
	if files < cmp.Or(r.least, 300) {
		t.Errorf("only %d files were checked", files)
	}
	for i, e := range r.exceptions {
		if !used[i] {
			t.Errorf("no line needs the exception for %s in %s", e.line, e.files)
		}
	}
}

// TestNoProductWords checks that the stack knows no product.
func TestNoProductWords(t *testing.T) { productRule.check(t) }

// TestNoBannedWords checks comments, strings and names.
func TestNoBannedWords(t *testing.T) { bannedRule.check(t) }

func TestDurableFolders(t *testing.T) { durableRule.check(t) }

func TestWordRules(t *testing.T) {
	for _, c := range []struct {
		rule *wordRule
		file string
		line string
		want bool // the line breaks the rule
	}{
		{&productRule, "supabase/internal/engine/rest/a.go", `select * from public.reports`, true},
		{&productRule, "supabase/internal/engine/rest/a.go", `select * from public.notes`, false},
		{&productRule, "supabase/internal/engine/rest/a.go", `DW-7K3M-9QXA`, true},
		{&productRule, "supabase/internal/engine/rest/a.go", `// Medicines of a Pharmacist`, true},
		{&productRule, "supabase/internal/app/a.go", `somaliTitles`, true},
		{&productRule, "supabase/internal/app/a.go", `// WhatsApp`, true},
		{&durableRule, "supabase/internal/app/datadir/a.go", `err := os.MkdirAll(data, 0o755)`, true},
		{&durableRule, "supabase/internal/app/datadir/a_test.go", `err := os.MkdirAll(data, 0o755)`, false},
		{&productRule, "supabase/internal/app/a.go", `a visitor's address`, true},
		{&productRule, "supabase/internal/engine/auth/sms/sms.go", `to = "whatsapp:" + to`, false},
		{&bannedRule, "web/a.ts", `// Nobody waits.`, true},
		{&bannedRule, "web/a.ts", `matchNobody()`, true},
		{&bannedRule, "web/a.ts", `nobodyMatches()`, true},
		{&bannedRule, "web/a.ts", `URLNobody`, true},
		{&bannedRule, "web/a.ts", `for_whom_it`, true},
		{&bannedRule, "web/a.ts", `WHEREIN`, true},
		{&bannedRule, "web/a.ts", `everybody's`, true},
		{&bannedRule, "web/a.ts", `http.NoBody, a new afreshness, janewall`, false},
		{&bannedRule, "supabase/internal/database/server/owner.go", `users := []string{"nobody"}`, false},
		{&bannedRule, "supabase/internal/database/server/owner.go", `// nobody waits`, true},
	} {
		if !c.rule.files(c.file) {
			t.Errorf("%s: no rule for the file", c.file)
		}
		if got := c.rule.find(c.file, c.line, map[int]bool{}) != nil; got != c.want {
			t.Errorf("%s: %q: %t", c.file, c.line, got)
		}
	}
	for _, free := range []string{"web/src/i18n/en.ts", "supabase/seed.sql", "web/a.png", "LICENSE",
		"supabase/internal/x/testdata/fuzz/F/a.go"} {
		if bannedRule.files(free) {
			t.Errorf("%s: has a rule", free)
		}
	}
	for _, file := range []string{"Makefile", "docker/Dockerfile", "docs/a.md", "a.yml", "supabase/migrations/a.sql",
		"x.txtar", "web/a.mts"} {
		if !bannedRule.files(file) {
			t.Errorf("%s: no rule for the file", file)
		}
	}
}
