package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// page is a Markdown file of the repository. Its name is a path below the top folder.
type page struct{ name, text string }

// pages returns all Markdown files.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (slices.Contains([]string{"node_modules", "testdata", "dist", "build", "bin"}, d.Name()) ||
			path != ".." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".md") {
			return nil
		}
		text, err := os.ReadFile(path)
		all = append(all, page{strings.TrimPrefix(path, "../"), string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```")

// shellBlocks returns the commands of each shell block of a page. It joins continued lines and
// here-documents.
func (p page) shellBlocks() (blocks [][]string) {
	for _, block := range fence.FindAllStringSubmatch(p.text, -1) {
		if block[1] != "sh" {
			continue
		}
		var list []string
		lines := strings.Split(strings.TrimSpace(block[2]), "\n")
		for i := 0; i < len(lines); i++ {
			command := lines[i]
			for strings.HasSuffix(command, `\`) && i+1 < len(lines) {
				i++
				command += "\n" + lines[i]
			}
			if m := regexp.MustCompile(`<<'?([A-Z]+)'?`).FindStringSubmatch(command); m != nil {
				for i+1 < len(lines) && lines[i] != m[1] {
					i++
					command += "\n" + lines[i]
				}
			}
			if text := strings.TrimSpace(command); text != "" && !strings.HasPrefix(text, "#") {
				list = append(list, command)
			}
		}
		blocks = append(blocks, list)
	}
	return blocks
}

// notRun lists patterns of commands that TestDocsCommands does not run. The reason says which test
// runs them, or why none does.
var notRun = []struct{ command, reason string }{
	{`^make `, "continuous integration, the release, or minutes of drills and benchmarks; the target must exist"},
	{`^(npm|npx) `, "continuous integration; the script must exist"},
	{`^(docker|docker/\S+|scripts/generate-env\.sh) `, "needs a Docker engine; docker's own tests read these files"},
	{`^sudo `, "changes the system"},
	{`^(sha256sum|tar) `, "the release script makes the archive and the sums"},
	{`^node web/scripts/`, "needs a browser or changes checked-in files; the script must exist"},
	{`^([A-Z]+=\S+ )*go (run|test) `, "minutes of drills and benchmarks; the folder must exist"},
	{`\bbin/daawo start\b|^export AWS_|…`, "needs its own server, or the operator's store and key"},
	{`^(bin/daawo stop|mv \.daawo)|--to 2026-`,
		"stops the server, or needs an earlier backup; the tests of backup and of the command line run it"},
	{`^(apt-get|systemctl|systemd-run|pg_dropcluster|install|patronictl|haproxy|cat|ip) |/etc/systemd/|^curl http://127.0.0.1:8222/`, "sets up the hosts of a cluster; make drill-cluster runs these files"},
	{`^scripts/idle-memory\.sh `, "takes minutes; the script must exist"},
	{`^bin/daawo (start|functions (new|invoke|logs))\b`,
		"runs until stopped or changes the project; the tests of functions run it"},
	{`^(NATS_URL=\S+ |POSTGRES_HOME=\S+ )?daawo (start|init|functions)\b`,
		"needs a project and a server of its own; TestCommandLine runs them in testdata/cli/project.txtar"},
	{`^bin/daawo functions (deploy|versions|rollback|token)\b`,
		"compiles and replaces the functions of the running server; the tests of functions run them"},
	{`^bin/daawo auth send-test `, "needs a hook or a provider of text messages; app.TestSendTestMessage sends"},
	{`^bin/daawo jobs (show|run) `, "needs a job that has failed; the tests of jobs run them"},
	{`^daawo (sql|migration|completion)\b|^ln -s `,
		"needs a project and a server of its own; TestCommandLine runs them in testdata/cli/official_names.txtar"},
	{`^daawo (studio|deno|edge-runtime|postgres) add\b`,
		"downloads from the network; TestAddedProgram adds from a file and from a release"},
	{`^daawo postgres switch\b`, "needs the added program; TestSwitchPostgres and make postgres-check run it"},
	{`^daawo extensions add `, "needs Debian's package; server.TestAddExtension adds files"},
	{`^pg_dump `, "needs the tools of Postgres; the tests of extension run it"},
	{`^daawo (backup|restore|export|import|migrate|serve)\b|--to s3:`,
		"needs the operator's store; the tests of backup run them"},
}

// TestDocsCommands runs the commands of the docs against a stack with one report and one resource.
// It only parses the commands in notRun, and checks that the targets, scripts and files that they
// name exist.
func TestDocsCommands(t *testing.T) {
	t.Parallel() // TestCommandLine is parallel too
	shell := newDocsShell(t)
	ran := 0
	for _, p := range pages(t) {
		if p.name == tour || p.name == search { // their tests run all of their commands
			continue
		}
		for _, block := range p.shellBlocks() {
			var run []string
			for _, command := range block {
				name := p.name + ": " + firstLine(command)
				if out, err := exec.Command("bash", "-n", "-c", command).CombinedOutput(); err != nil {
					t.Errorf("%s: %s", name, out)
					continue
				}
				if !isNotRun(command) {
					run = append(run, command)
				} else if err := namesExist(command); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if len(run) == 0 {
				continue
			}
			ran += len(run)
			// One shell runs the commands of a block, as for a reader.
			if out, err := shell.run(t, strings.Join(run, "\n")); err != nil {
				t.Errorf("%s: %v\n%s\n%s", p.name, err, strings.Join(run, "\n"), out)
			}
			if strings.Contains(strings.Join(run, "\n"), "reports delete") {
				shell.fill(t)
			}
		}
	}
	if ran < 15 {
		t.Errorf("only %d commands were run; does the pattern of shell blocks still match?", ran)
	}
}

// isNotRun reports whether TestDocsCommands skips a command.
func isNotRun(command string) bool {
	return slices.ContainsFunc(notRun, func(e struct{ command, reason string }) bool {
		return regexp.MustCompile(e.command).MatchString(command)
	})
}

func firstLine(s string) string { line, _, _ := strings.Cut(s, "\n"); return line }

// namesExist reports an error if a target of the Makefile, a script of npm or a file of a command
// does not exist.
func namesExist(command string) error {
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			return ""
		}
		return string(text)
	}
	code, _, _ := strings.Cut(firstLine(command), " #")
	words := strings.Fields(code)
	switch words[0] {
	case "make":
		for _, target := range words[1:] {
			if !strings.Contains(target, "=") && !strings.Contains(read("Makefile"), "\n"+target+":") {
				return fmt.Errorf("the Makefile has no target %q", target)
			}
		}
	case "npm":
		script := words[1]
		if script == "run" {
			script = words[2]
		}
		if !strings.Contains(read("web/package.json"), `"`+script+`":`) {
			return fmt.Errorf("web/package.json has no script %q", script)
		}
	}
	for _, word := range words {
		word = strings.TrimSuffix(strings.TrimPrefix(word, "./"), "/...")
		if regexp.MustCompile(`^(scripts|docker|web|supabase|functions)/[\w./-]+$`).MatchString(word) &&
			word != "docker/" {
			if _, err := os.Stat(filepath.Join("..", word)); err != nil {
				return err
			}
		}
	}
	return nil
}

// docsShell runs commands in a folder with the layout of the repository. Its bin/daawo is this test
// binary.
type docsShell struct {
	dir, resource, reference string
	filled, ran              int // numbers of fill and run calls
	env                      []string
}

func newDocsShell(t *testing.T) *docsShell {
	t.Helper()
	dir, err := os.MkdirTemp("", "docs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	top, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Chmod(dir, 0o755), // the user of Postgres must be able to enter
		os.MkdirAll(dir+"/bin", 0o755),
		os.MkdirAll(dir+"/web/src/backend", 0o755),
		os.Symlink(self, dir+"/bin/daawo"), // TestMain runs the program under this name
		os.Symlink(top+"/node_modules", dir+"/node_modules"),
		os.CopyFS(dir+"/supabase", os.DirFS(top+"/supabase")),
		os.WriteFile(dir+"/leaflet.pdf", []byte("%PDF-1.4\n%%EOF\n"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s := &docsShell{dir: dir,
		env: append(os.Environ(), "DAAWO_DATA="+dir+"/data", "HOME="+dir, "XDG_CACHE_HOME="+os.TempDir(),
			"PATH="+dir+"/bin:"+os.Getenv("PATH"))}
	s.serve(t)
	s.fill(t)
	return s
}

// serve starts the stack and stops it when the test ends.
func (s *docsShell) serve(t *testing.T) {
	t.Helper()
	server := exec.Command(s.dir+"/bin/daawo", "start", "--port", "0")
	var log bytes.Buffer
	server.Dir, server.Env, server.Stdout, server.Stderr = s.dir, s.env, &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt) // the server may have exited already; Wait reports how
		if err := server.Wait(); err != nil {
			t.Errorf("the server: %v\n%s", err, log.String())
		}
	})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		out, err := s.run(t, "bin/daawo status")
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the stack did not start: %s", out)
		}
	}
}

// fill sends a report and looks up a resource for the examples of the docs.
func (s *docsShell) fill(t *testing.T) {
	t.Helper()
	s.filled++ // a report with the same content would count as a retry
	api, err := s.run(t, `bin/daawo status -o env | sed -n 's/^API_URL="\(.*\)"$/\1/p'`)
	if err != nil {
		t.Fatal(api, err)
	}
	res, err := http.Post(strings.TrimSpace(api)+"/functions/v1/submit-report", "application/json",
		strings.NewReader(fmt.Sprintf(`{"product_name":"Cream %d","issue_description":"It burns","location":"Banaadir"}`, s.filled)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	s.reference = regexp.MustCompile(`DW-\w{4}-\w{4}`).FindString(string(body))
	list, err := s.run(t, "bin/daawo resources list")
	if err != nil {
		t.Fatal(list, err)
	}
	s.resource = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).FindString(list)
	if s.reference == "" || s.resource == "" {
		t.Fatalf("no report (%s) or no resource (%s)", body, list)
	}
}

// run replaces the placeholders of the docs in a command, runs it and returns its combined output.
func (s *docsShell) run(t *testing.T, command string) (string, error) {
	t.Helper()
	for _, r := range []struct{ example, real string }{
		{`\bDW-7K3M-9QXA\b`, s.reference}, {`\bID\b`, s.resource}, {`/mnt/usb\b`, s.dir + "/usb"},
		{`\bNEW\b`, fmt.Sprintf("new-%d", s.ran)},
	} {
		command = regexp.MustCompile(r.example).ReplaceAllString(command, r.real)
	}
	s.ran++
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", command)
	c.Dir, c.Env = s.dir, s.env
	c.Stdin = strings.NewReader("y\n") // to "are you sure?"
	out, err := c.CombinedOutput()
	return string(out), err
}
