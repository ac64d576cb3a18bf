package migrate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", " \n;; ; ", nil},
		{"no final semicolon", "select 1; select 2", []string{"select 1", "select 2"}},
		{"comments stay with the next statement", "-- a; b\nselect 1; -- c; d\n",
			[]string{"-- a; b\nselect 1", "-- c; d"}},
		{"nested comments", "/* a; /* b; */ c; */ select 1;", []string{"/* a; /* b; */ c; */ select 1"}},
		{"strings", `select 'a;''b;'; select "c;""d;"`, []string{`select 'a;''b;'`, `select "c;""d;"`}},
		{"backslashes only in E strings", `select 'c:\'; select E'a\'b;'';c';`,
			[]string{`select 'c:\'`, `select E'a\'b;'';c'`}},
		{"dollar quotes", "select $$a;$x$b;$$; select $x$;$$;$x$", []string{"select $$a;$x$b;$$", "select $x$;$$;$x$"}},
		{"dollars in names and parameters", "select a$b$; select $1; select $2",
			[]string{"select a$b$", "select $1", "select $2"}},
		{"parentheses", "create rule r as on insert to t do (select 1; select 2); select 3",
			[]string{"create rule r as on insert to t do (select 1; select 2)", "select 3"}},
		{
			"SQL bodies",
			"create function f() returns int begin atomic select case 1 when 1 then 2 end; select 3; end; select 4",
			[]string{"create function f() returns int begin atomic select case 1 when 1 then 2 end; select 3; end",
				"select 4"},
		},
		{"BEGIN without ATOMIC", "begin; select 1; end;", []string{"begin", "select 1", "end"}},
		{"byte order mark", "\ufeffselect 1;\r\nselect 2;\r\n", []string{"select 1", "select 2"}},
		{"unfinished string", "select 'a;", []string{"select 'a;"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, split(test.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestControlOf(t *testing.T) {
	for stmt, want := range map[string]transactionControl{
		"begin":                          begin,
		"/* now */ START  TRANSACTION":   begin,
		"-- done\nCommit Work":           commit,
		"end":                            commit,
		"commit work and  chain":         commit,
		"Rollback":                       rollback,
		"abort and no chain":             rollback,
		"rollback to savepoint s":        noControl,
		"commit prepared 'x'":            noControl,
		"select 'begin'":                 noControl,
		"create function begin() as 'x'": noControl,
	} {
		if got := controlOf(stmt); got != want {
			t.Errorf("controlOf(%q) = %v, want %v", stmt, got, want)
		}
	}
}

// split may drop only semicolons and white space between statements.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"a;b", "'a;", "$$;$$;", "/*;/*;*/", "(;", "begin atomic;end;", "e'\\';", "\xff;$"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest := strings.TrimPrefix(text, "\ufeff")
		for _, stmt := range split(text) {
			after, found := strings.CutPrefix(strings.TrimLeftFunc(rest, isBetween), stmt)
			if !found {
				t.Fatalf("split(%q) lost text before %q", text, stmt)
			}
			rest = after
		}
		if strings.TrimFunc(rest, isBetween) != "" {
			t.Fatalf("split(%q) lost %q", text, rest)
		}
	})
}

func isBetween(r rune) bool { return r == ';' || strings.TrimSpace(string(r)) == "" }
