package cli

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"daawo/supabase/edge"
	"daawo/supabase/internal/app"
)

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false,
		"yeah\n": false} {
		inv := &Invocation{Env: &Env{Stdin: strings.NewReader(answer), Stderr: &strings.Builder{}}}
		if inv.Confirm(t.Context(), "?") != want {
			t.Errorf("%q", answer)
		}
	}
}

func TestVerbs(t *testing.T) {
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"functions list":                   {0, "hello"},
		"functions":                        {2, "usage"},
		"start now":                        {2, `unexpected argument "now"; usage:`},
		"functions new":                    {2, "usage"},
		"export --data x file --files":     {2, "--files needs a value; see"},
		"export --data x file --files y z": {2, `unexpected argument "z"; usage:`},
		"export - -":                       {2, `unexpected argument "-"; usage:`},
		"functions new Bad_Name":           {1, "cannot name a function"},
		"functions logs --since 1x":        {2, `"1x" is not a duration such as 90s or 1h`},
		"notify":                           {2, "usage"},
		"status --data /nonexistent/folder": {1,
			"no server is running on /nonexistent/folder: start one with `daawo start`, or name its data folder with --data"},
		"doctor --dev":              {2, "unknown flag --dev"},
		"functions serve --dev":     {2, "unknown flag --dev"},
		"migrate --dev":             {2, "unknown flag --dev"},
		"start --prot 1":            {2, `unknown flag --prot (did you mean --port?); see`},
		"start --port abc":          {2, `daawo: --port: "abc" is not a port; use a number from 0 to 65535; see`},
		"db diff -z":                {2, "unknown flag -z (did you mean -f?); see"},
		"stop --timeout 3":          {2, `daawo: --timeout: "3": is not valid; see`},
		"start --dev=maybe":         {2, `daawo: --dev: "maybe": is not valid; see`},
		"functions deploy --remote": {2, "daawo: --remote deploys to supabase.com"},
		"start --help":              {0, "--dev"},
		"start -x storage --help":   {0, `there is no service "storage"; services that can be left out: gotrue,`},
		"functions --help":          {0, "\n\n  daawo functions new hello &&"},
		"gen":                       {2, "usage"},
		"gen typescript":            {2, `daawo gen has no action "typescript"; the actions are types`},
		"gen types cobol":           {2, "the languages are typescript, go, swift, python"},
		"gen types --project-id x":  {2, "reads a project on supabase.com; use --db-url"},
		"strat":                     {2, `"strat" is not a command (did you mean "start"?); see`},
		"frobnicate":                {2, `"frobnicate" is not a command; see`},
		"db dif": {2,
			`daawo db has no action "dif" (did you mean "diff"?); the actions are dump, diff,`},
		"link --project-ref x":                      {2, "link: manages projects on supabase.com"},
		"db diff --help":                            {0, "Usage: daawo db diff [FLAGS]"},
		"help db diff":                              {0, "Usage: daawo db diff [FLAGS]"},
		"--workdir /nowhere db diff":                {1, "--workdir /nowhere: it has no folder supabase/"},
		"--debug status --data /nonexistent/folder": {1, "no server is running"},
		"db push --linked":                          {2, "there is no linked project"},
		"db diff --remote":                          {2, "there is no linked project"},
		"status --override-name x":                  {2, "is not of the form KEY=NAME"},
		"migration repair 1":                        {2, "--status is applied or reverted"},
		"storage cp a b":                            {1, "no server is running"},
		"storage rm a":                              {1, "no server is running"},
		"extension remove":                          {2, "usage: daawo extensions remove NAME"},
		"completion":                                {2, "usage: daawo completion bash|zsh|fish"},
		"gen types --help":                          {0, "supabase-js"},
		"serve rest --version":                      {0, "PostgREST 16.2"},
		"serve rest -v":                             {0, "PostgREST 16.2"},
		"serve rest --example":                      {0, "db-uri"},
		"serve rest -e":                             {0, "db-uri"},
	} {
		var out strings.Builder
		code := Main(context.Background(), Env{
			Args: strings.Fields(line), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			Options: app.Options{Functions: map[string]edge.Func{"hello": {}}, Project: fstest.MapFS{}, Version: "test",
				Getenv: func(string) (string, bool) { return "", false }},
		})
		if code != want.code || !strings.Contains(out.String(), want.says) {
			t.Errorf("%s: %d %s, want %d and %q", line, code, out.String(), want.code, want.says)
		}
	}
}

// Help and errors name the program, not the stack's default name.
func TestProgramName(t *testing.T) {
	for _, line := range []string{
		"", "--help", "frobnicate", "notify", "start --help", "keys --help", "backup --help", "restore --help",
		"functions --help", "export --help", "import --help", "rest --help", "gen --help", "migrate --help",
		"doctor --help", "status --frob", "version",
	} {
		var out strings.Builder
		Main(context.Background(), Env{
			Name: "clinic", Args: strings.Fields(line), Stdout: &out, Stderr: &out,
			Options: app.Options{Project: fstest.MapFS{}, Getenv: func(string) (string, bool) { return "", false }},
		})
		if text := out.String(); commandOf.MatchString(text) || !strings.Contains(text, "clinic") {
			t.Errorf("%s: %s", line, text)
		}
	}
}
