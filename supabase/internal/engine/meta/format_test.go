package meta

import (
	"strings"
	"testing"
)

// TestFormatKeepsText checks that no statement loses text, however wrong it is.
func TestFormatKeepsText(t *testing.T) {
	spaces := strings.NewReplacer(" ", "", "\n", "", "\t", "")
	for name, sql := range map[string]string{
		"closed too often":  "select 1) from (t)) where x) and ((y",
		"a comment":         "select 1 -- one\n, 2 /* two */ from t /* no end",
		"many comments":     strings.Repeat("/*a ", 50_000),
		"deep":              strings.Repeat("(", 100_000),
		"deep and complete": strings.Repeat("f(", 500) + "1, 2, 3" + strings.Repeat(")", 500) + " as a",
		"strings":           `select 'a''b', e'\'', "q""r", $x$ $y$ $x$, 'no end`,
	} {
		got := formatSQL(sql)
		if spaces.Replace(got) != spaces.Replace(sql) {
			t.Errorf("%s: %.200s", name, got)
		}
		if len(got) > 100*len(sql) {
			t.Errorf("%s: %d bytes of %d", name, len(got), len(sql))
		}
	}
}
