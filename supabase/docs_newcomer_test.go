package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// newcomerRoot names the variable with the root file system of TestNewcomer.
const newcomerRoot = "NEWCOMER_ROOT"

// newcomer is a user of a bare root file system, where scripts/newcomer.sh has put the program's
// archive, a clone, Go and Node.
type newcomer struct{ root string }

// TestNewcomer follows the docs as a new user does: each step is a page whose commands run in one
// shell. The next step needs the ones before, so the first failure ends the test.
func TestNewcomer(t *testing.T) {
	root := os.Getenv(newcomerRoot)
	if root == "" {
		t.Skip("needs a root file system of Debian and half an hour: `make newcomer` runs it")
	}
	n := newcomer{root}
	for _, step := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"README.md", n.readme}, {tour, n.tour}, {"docs/functions.md", n.functions},
		{"docs/bring-your-project.md", n.bringProject}, {"docs/library.md", n.library},
	} {
		if !t.Run(step.name, step.run) {
			return
		}
	}
}

func (n newcomer) readme(t *testing.T) {
	n.follow(t, nil, section(t, "README.md", "# Daawo"))
}

func (n newcomer) tour(t *testing.T) {
	before, after := tourSteps(t, tour)
	n.sh(t, strings.Join(before, "\n"))
	compareTour(t, n.sh(t, "cd notes\nserve daawo start\n"+tourScript(after)), after)
}

func (n newcomer) functions(t *testing.T) {
	const page = "docs/functions.md"
	n.follow(t, []string{"bin/daawo functions new hello"}, // init has written it
		`daawo init visits --functions && cd visits && mkdir bin && ln -s "$(command -v daawo)" bin/daawo`,
		section(t, page, "### Write one"), section(t, page, "### Call it with types"), "go test ./functions/...",
		"bin/daawo start", section(t, page, "### Deploy"))
}

func (n newcomer) bringProject(t *testing.T) {
	const page = "docs/bring-your-project.md"
	n.follow(t, nil, "mkdir -p own/shop/dist && cd own && echo '<h1>Shop</h1>' > shop/dist/index.html",
		section(t, page, "### A new project"), section(t, page, "### Functions in Go"),
		section(t, page, "### Query the database"))
	n.follow(t, []string{"daawo status"}, // has the address of the folder of the project
		"mkdir -p starter/apps && cp -r notes starter/apps/web && rm -rf starter/apps/web/.daawo && cd starter",
		section(t, page, "### From a starter"), "daawo status --workdir apps/web -o env")
}

func (n newcomer) library(t *testing.T) {
	text := readPage(t, "docs/library.md")
	var script strings.Builder
	script.WriteString("mkdir clinic && cd clinic\n")
	files := regexp.MustCompile("(?ms)^`([^`\n]+)`:\n\n```[a-z]*\n(.*?)^```").FindAllStringSubmatch(text, -1)
	for _, file := range files {
		fmt.Fprintf(&script, "mkdir -p '%s'\ncat > '%s' <<'END OF FILE'\n%sEND OF FILE\n", filepath.Dir(file[1]), file[1], file[2])
	}
	blocks := regexp.MustCompile("(?ms)^```\n(.*?)^```").FindAllStringSubmatch(section(t, "docs/library.md", "## One binary"), -1)
	if len(files) != 6 || len(blocks) != 2 {
		t.Fatalf("docs/library.md has %d files and %d blocks of commands", len(files), len(blocks))
	}
	for _, block := range blocks {
		script.WriteString(newcomerCommands(strings.Split(strings.TrimSpace(block[1]), "\n")))
	}
	if out := n.sh(t, script.String()); strings.Count(out, `"clinic":"Burao"`) != 2 {
		t.Errorf("the function and REST answered %s", out)
	}
}

// follow runs the shell blocks of parts of pages in one shell. A part without a block is a command.
// skip are the beginnings of commands that the reader leaves out, as blocks with a value to fill in.
func (n newcomer) follow(t *testing.T, skip []string, parts ...string) {
	t.Helper()
	var script strings.Builder
	for _, part := range parts {
		if !strings.Contains(part, "```") {
			script.WriteString(newcomerCommands([]string{part}))
			continue
		}
		blocks := page{text: part}.shellBlocks()
		if len(blocks) == 0 {
			t.Fatalf("no commands in %q", part)
		}
		for _, block := range blocks {
			if strings.Contains(strings.Join(block, "\n"), "…") {
				continue
			}
			script.WriteString(newcomerCommands(slices.DeleteFunc(block, func(command string) bool {
				return slices.ContainsFunc(skip, func(s string) bool { return strings.HasPrefix(command, s) })
			})))
		}
	}
	n.sh(t, script.String())
}

// newcomerCommands returns the commands of a block, with a server in the background and an end of
// commands that would not end.
func newcomerCommands(block []string) string {
	var out strings.Builder
	for _, command := range block {
		switch code, _, _ := strings.Cut(command, " #"); {
		case regexp.MustCompile(`^\S*(daawo|clinic) start\b`).MatchString(command):
			command = "serve " + code
		case strings.Contains(code, "--follow"):
			command = "timeout 5 " + code + " || [ $? = 124 ]"
		default:
			name := strings.ReplaceAll(strings.TrimSpace(firstLine(code)), "'", "")
			command = fmt.Sprintf("began=$SECONDS\n%s\nreport '%s'", command, name)
		}
		out.WriteString(command + "\n")
	}
	return out.String()
}

// newcomerShell begins each script. report prints the time since began, unless it is short. serve
// runs a server until the next one or the end of the script, and reports the time until it serves
// and until it is ready, with its functions.
const newcomerShell = `
cd
server=
report() {
  [ $((SECONDS - began)) -lt 3 ] || echo "TIME $1: $((SECONDS - began)) s" >&2
  began=$SECONDS
}
finish() {
  [ -z "$server" ] || { kill "$server" && wait "$server" || { cat ~/server.log >&2; exit 1; }; }
  server=
}
trap finish EXIT
serve() {
  finish
  local at=()
  case "$*" in *--workdir*) at=(--workdir "${@: -1}") ;; esac
  began=$SECONDS
  "$@" > ~/server.log 2>&1 &
  server=$!
  until "$1" status "${at[@]}" > /dev/null 2>&1; do
    kill -0 "$server" 2> /dev/null || { cat ~/server.log >&2; server=; exit 1; }
    sleep 0.1
  done
  report "$*: serves"
  local address
  address=$("$1" status "${at[@]}" -o env | sed -n 's/^API_URL="\(.*\)"/\1/p')
  until "$1" healthcheck "$address/readyz" 2> /dev/null; do
    kill -0 "$server" 2> /dev/null || { cat ~/server.log >&2; server=; exit 1; }
    sleep 0.1
  done
  report "$*: ready"
}
set -x
`

// sh runs a script as the user, without rights, in its home. It returns the standard output.
func (n newcomer) sh(t *testing.T, script string) string {
	t.Helper()
	goproxy, err := exec.Command("go", "env", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	registry, err := exec.Command("npm", "config", "get", "registry").Output()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "chroot", "--userspec=reader:reader", n.root, "/usr/bin/env", "-i",
		"HOME=/home/reader", "USER=reader", "LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/go/bin",
		"NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt", "GOPROXY="+strings.TrimSpace(string(goproxy)),
		"npm_config_registry="+strings.TrimSpace(string(registry)),
		"SUPABASE_API_PORT=0", "SUPABASE_DB_PORT=0", "SUPABASE_LOCAL_SMTP_PORT=0", // beside servers of this machine
		"bash", "-euo", "pipefail", "-c", newcomerShell+script)
	var out, log bytes.Buffer
	c.Stdout, c.Stderr = &out, &log
	began := time.Now()
	err = c.Run()
	for line := range strings.Lines(log.String()) {
		if step, ok := strings.CutPrefix(strings.TrimSpace(line), "TIME "); ok {
			t.Log(step)
		}
	}
	t.Logf("all: %.0f s", time.Since(began).Seconds())
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), log.String())
	}
	return out.String()
}

// readPage returns the text of a page.
func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section returns the text of a page from a heading to the next one of any level.
func section(t *testing.T, name, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(readPage(t, name), heading+"\n")
	if !found {
		t.Fatalf("%s has no %q", name, heading)
	}
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if !fenced && strings.HasPrefix(line, "#") {
			before, _, _ := strings.Cut(text, line)
			return before
		}
	}
	return text
}
