package housetest

import (
	"regexp"
	"strings"
	"testing"
)

// TestSubqueriesHaveAliases checks the SQL of the project and of the platform: Postgres 15, which
// DATABASE_URL may name, refuses a subquery in FROM without an alias.
func TestSubqueriesHaveAliases(t *testing.T) {
	for _, name := range tracked(t) {
		if within(name, "supabase") && strings.HasSuffix(name, ".sql") {
			for _, subquery := range withoutAlias(read(t, name)) {
				t.Errorf("%s: a subquery in FROM needs an alias: (%.60s", name, subquery)
			}
		}
	}
}

var (
	quotedSQL = regexp.MustCompile(`--[^\n]*|'[^']*'`)
	inFrom    = regexp.MustCompile(`(?i)\b(?:from|join)\s*\(\s*(?:select|with|values)\b`)
	alias     = regexp.MustCompile(`^\s*(?:[a-zA-Z_"]\w*)`)
	noAlias   = regexp.MustCompile(`(?i)^\s*(?:where|group|order|limit|union|end|on|join|left|cross|having|then|for|loop)\b`)
)

// withoutAlias returns the subqueries in FROM that have no alias.
func withoutAlias(sql string) (found []string) {
	sql = quotedSQL.ReplaceAllStringFunc(sql, func(s string) string { return strings.Repeat(" ", len(s)) })
	for _, at := range inFrom.FindAllStringIndex(sql, -1) {
		open := at[0] + strings.IndexByte(sql[at[0]:], '(')
		depth := 0
		for i := open; i < len(sql); i++ {
			switch sql[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 {
				if rest := sql[i+1:]; !alias.MatchString(rest) || noAlias.MatchString(rest) {
					found = append(found, sql[open+1:i])
				}
				break
			}
		}
	}
	return found
}

func TestWithoutAlias(t *testing.T) {
	for sql, want := range map[string]int{
		"select 1 from (select 2) as a":                   0,
		"select 1 from (select (2)) a where true":         0,
		"select 1 from (select ')' as x) where true":      1,
		"select (select 1 from (values (1))) from t":      1,
		"select 1 from a join (select 2) on true":         1,
		"select 1 from f(x) -- from (select 2)":           0,
		"select 1 from (select 2 from (select 3) b) as a": 0,
	} {
		if got := len(withoutAlias(sql)); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
}
