package migrate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParseScript checks offsets, the rows of COPY and the lines of pg_dump.
func TestParseScript(t *testing.T) {
	const script = "\\restrict abc\n-- a dump\nselect ';';\n\ncopy a (x) from stdin;\n1\n\\N\n\\.\n\nselect 2 -- no semicolon\n\\unrestrict"
	for name, c := range map[string]struct {
		script string
		want   []ScriptStatement
		fails  string
	}{
		"dump": {script[:len(script)-len("\\unrestrict")] + ";\n\\unrestrict abc\n", []ScriptStatement{
			{Text: "-- a dump\nselect ';'", Offset: 14},
			{Text: "copy a (x) from stdin", Offset: 37, Rows: "1\n\\N\n", Copies: true},
			{Text: "select 2 -- no semicolon", Offset: 69},
		}, ""},
		"psql": {"select 1;\n\n\\d notes\n", nil,
			`line 3: \d is a command of psql, which this program does not have`},
		"empty": {" ;; -- nothing\n", nil, ""},
		"no end": {"copy a from stdin;\n1", []ScriptStatement{{Text: "copy a from stdin", Rows: "1", Copies: true}},
			""},
		"no rows": {"copy a from stdin", []ScriptStatement{{Text: "copy a from stdin", Copies: true}}, ""},
		"semicolon": {"select $$;$$; select 2;",
			[]ScriptStatement{{Text: "select $$;$$"}, {Text: "select 2", Offset: 14}}, ""},
	} {
		got, err := ParseScript(c.script)
		if c.fails != "" && (err == nil || err.Error() != c.fails) || c.fails == "" && err != nil {
			t.Errorf("%s: error %v, want %q", name, err, c.fails)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestRunsAlone checks which statements run outside of a transaction.
func TestRunsAlone(t *testing.T) {
	for stmt, want := range map[string]bool{
		"-- x\nvacuum notes": true, "create unique index concurrently i on a (x)": true, "begin": true,
		"create database x": true, "select 1": false, "create index i on a (x)": false,
		"create table vacuum (a int)": false, "cluster a": false,
	} {
		if RunsAlone(stmt) != want {
			t.Errorf("%s: %v", stmt, !want)
		}
	}
}
