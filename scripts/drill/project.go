package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"daawo/scripts/server"
)

// project is a copy of this project, to write functions in.
type project struct{ dir string }

// newProject copies the files in git and the built site, and links the npm packages.
func newProject(ctx context.Context) (p project, err error) {
	if p.dir, err = os.MkdirTemp("", "daawo-project-"); err != nil {
		return p, err
	}
	root, err := filepath.Abs(".")
	if err != nil {
		return p, err
	}
	const copying = `
git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read --files-from - --create | tar --extract --directory "$1"
cp -R web/dist/. "$1/web/dist/"
ln -sfn "$2/node_modules" "$1/node_modules"
[ ! -e web/node_modules ] || ln -sfn "$2/web/node_modules" "$1/web/node_modules"
chmod 755 "$1"`
	return p, p.command(ctx, root, "bash", "-euc", copying, "bash", p.dir, root)
}

// command runs a program in a folder. Its error includes the program's output.
func (p project) command(ctx context.Context, dir, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// newFunction creates a function with `daawo functions new` and replaces its source unless source
// is "".
func (p project) newFunction(ctx context.Context, binary, name, source string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	if err := p.command(ctx, p.dir, binary, "functions", "new", name); err != nil || source == "" {
		return err
	}
	if err := os.Remove(filepath.Join(p.dir, "functions", name, "func_test.go")); err != nil {
		return err
	}
	return p.write(name, source)
}

func (p project) source(name string) string {
	return filepath.Join(p.dir, "functions", name, "func.go")
}

func (p project) write(name, source string) error {
	return os.WriteFile(p.source(name), []byte(source), 0o644)
}

func (p project) close() { _ = os.RemoveAll(p.dir) }

// callFunction posts a JSON body as a visitor. Each call has its own client address.
func callFunction(ctx context.Context, st *server.Stack, name, body string) answer {
	n := visitor.Add(1)
	return call{path: "/functions/v1/" + name, method: http.MethodPost, key: st.Get("ANON_KEY"),
		from: fmt.Sprintf("10.%d.%d.%d", byte(n>>16), byte(n>>8), byte(n)), kind: "application/json",
		body: []byte(body)}.send(ctx, st)
}
