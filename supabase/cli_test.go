package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"daawo/supabase/internal/database/server"
	"daawo/supabase/stack"
)

// TestMain makes this program available to the scripts as daawo, and under the name of the official
// CLI. Its site is a page of the tests, because the tests need no built site.
func TestMain(m *testing.M) {
	run := func() {
		o := program()
		o.Site = fstest.MapFS{"index.html": {Data: []byte("<h1>Daawo</h1>")}}
		stack.Main(o)
	}
	testscript.Main(m, map[string]func(){"daawo": run, "supabase": run})
}

// TestCommandLine runs the scripts in testdata/cli: commands of an operator and their output.
func TestCommandLine(t *testing.T) {
	top, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/cli",
		Setup: func(e *testscript.Env) error {
			// The user of Postgres needs access, and the program looks for the npm package in the
			// working folder and above.
			for _, dir := range []string{e.WorkDir, filepath.Dir(e.WorkDir)} {
				if err := os.Chmod(dir, 0o755); err != nil {
					return err
				}
			}
			for _, name := range []string{"node_modules", "bin"} { // bin has the compiled extensions
				if err := os.Symlink(top+"/../"+name, e.WorkDir+"/"+name); err != nil {
					return err
				}
			}
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("PROJECT", top)
			e.Setenv("XDG_CACHE_HOME", os.TempDir())
			// Functions of a project are built with the modules and the build cache of this one.
			for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOPROXY", "GOFLAGS"} {
				value, err := exec.Command("go", "env", name).Output()
				if err != nil {
					return err
				}
				e.Setenv(name, strings.TrimSpace(string(value)))
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"submit": submit, "sql": runSQL},
		// [extension:NAME] holds if the build compiled the extension.
		Condition: func(name string) (bool, error) {
			extension, ok := strings.CutPrefix(name, "extension:")
			if !ok {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			return hasExtension(extension), nil
		},
	})
}

// hasExtension reports whether the build compiled an extension of Postgres.
func hasExtension(name string) bool {
	pkg, err := server.FindPackage(".")
	if err != nil {
		return false
	}
	_, err = fs.Stat(pkg, "native/share/postgresql/extension/"+name+".control")
	return err == nil
}

// submit is the script command `submit DATA FILE`. It sends the report in FILE with a photo to the
// server of the data folder DATA, as the site does, and prints the reference.
func submit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: submit DATA FILE")
	}
	daawo, err := exec.LookPath("daawo")
	ts.Check(err)
	out, err := exec.Command(daawo, "status", "--data", ts.MkAbs(args[0]), "-o", "json").Output()
	ts.Check(err)
	var at struct {
		API string `json:"API_URL"`
		Key string `json:"PUBLISHABLE_KEY"`
	}
	ts.Check(json.Unmarshal(out, &at))

	var photo bytes.Buffer
	ts.Check(png.Encode(&photo, image.NewGray(image.Rect(0, 0, 8, 8))))
	const name = "1790000000000.png"
	post(ts, at.Key, at.API+"/storage/v1/object/report-photos/"+name, "image/png", &photo)
	report := strings.Replace(ts.ReadFile(args[1]), "{", fmt.Sprintf(`{"photo_url":%q,`, name), 1)
	var reply struct{ Reference string }
	ts.Check(json.Unmarshal(post(ts, at.Key, at.API+"/functions/v1/submit-report", "application/json",
		strings.NewReader(report)), &reply))
	fmt.Fprintln(ts.Stdout(), reply.Reference)
}

// runSQL is the script command `sql DATA STATEMENTS`. It runs SQL on the server of the data folder
// DATA, as the role postgres.
func runSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql DATA STATEMENTS")
	}
	daawo, err := exec.LookPath("daawo")
	ts.Check(err)
	out, err := exec.Command(daawo, "status", "--data", ts.MkAbs(args[0]), "-o", "json").Output()
	ts.Check(err)
	var at struct {
		URL string `json:"DB_URL"`
	}
	ts.Check(json.Unmarshal(out, &at))
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, at.URL)
	ts.Check(err)
	defer conn.Close(ctx)
	_, err = conn.PgConn().Exec(ctx, args[1]).ReadAll()
	ts.Check(err)
}

func post(ts *testscript.TestScript, key, url, contentType string, body io.Reader) []byte {
	r, err := http.NewRequest(http.MethodPost, url, body)
	ts.Check(err)
	r.Header.Set("apikey", key)
	r.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	ts.Check(err)
	if res.StatusCode != http.StatusOK {
		ts.Fatalf("POST %s: %s %s", url, res.Status, text)
	}
	return text
}
