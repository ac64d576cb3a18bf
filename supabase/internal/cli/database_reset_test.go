package cli

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"daawo/supabase/internal/app"
)

// TestResetNeedsYes checks that without a terminal only --yes lets a public installation or a
// database of another server be replaced. A local project needs no answer.
func TestResetNeedsYes(t *testing.T) {
	const (
		refused = "there is no terminal to ask; --yes confirms it"
		foreign = "postgres://admin:secret@127.0.0.1:1/shop"
	)
	public := map[string]string{"DAAWO_HOST": "0.0.0.0"}
	for _, tt := range []struct {
		line string
		env  map[string]string
		want string // part of the refusal; "" for none
	}{
		{"db reset", nil, ""},
		{"migration down", nil, ""},
		{"db reset", public, "of this public installation (listening on 0.0.0.0)"},
		{"migration down", public, "of this public installation"},
		{"db reset --yes", public, ""},
		{"--yes db reset", public, ""},
		{"db reset --db-url " + foreign, nil, "of the database shop on 127.0.0.1:1"},
		{"db reset --remote=" + foreign, nil, "of the database shop"},
		{"db reset", map[string]string{"DATABASE_URL": foreign}, "of the database shop"},
		{"migration down --db-url " + foreign, nil, "of the database shop"},
		{"db reset --yes --db-url " + foreign, nil, ""},
	} {
		var out strings.Builder
		code := Main(context.Background(), Env{
			Args:  append(strings.Fields(tt.line), "--data", "/dev/null/data"), // no reset succeeds there
			Stdin: strings.NewReader("y\n"), Stdout: &out, Stderr: &out,
			Options: app.Options{Project: fstest.MapFS{"migrations/1_a.sql": {}, "migrations/2_b.sql": {}},
				Getenv: func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok }},
		})
		if got := strings.Contains(out.String(), refused); got != (tt.want != "") || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %s, want %q", tt.line, out.String(), tt.want)
		}
		if tt.want != "" && code != 2 || code == 0 {
			t.Errorf("%s: exit code %d", tt.line, code)
		}
		if strings.Contains(out.String(), "secret") {
			t.Errorf("%s prints the password: %s", tt.line, out.String())
		}
	}
}
