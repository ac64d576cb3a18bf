// Package scaffold writes the files of a new function.
package scaffold

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed func.go.tmpl
var funcTemplate string

//go:embed func_test.go.tmpl
var testTemplate string

//go:embed sms.go.tmpl
var smsTemplate string

//go:embed sms_test.go.tmpl
var smsTestTemplate string

//go:embed index.ts.tmpl
var typeScriptTemplate string

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// taken lists names of folders and packages with another meaning.
var taken = []string{"edge", "main", "init", "internal", "vendor", "testdata"}

// New writes functions/<name>/ with a handler and its test below root, the folder of go.mod, and
// registers the function. It returns the paths that it wrote, relative to root.
func New(root, name string) ([]string, error) {
	return write(root, name, map[string]string{"func.go": funcTemplate, "func_test.go": testTemplate})
}

// NewSMS is New for the function of auth's hook send_sms.
func NewSMS(root, name string) ([]string, error) {
	return write(root, name, map[string]string{"func.go": smsTemplate, "func_test.go": smsTestTemplate})
}

// write writes the files of a function in Go, templates by name, and registers the function.
func write(root, name string, files map[string]string) ([]string, error) {
	if !nameForm.MatchString(name) {
		return nil, fmt.Errorf("%q cannot name a function: use small letters, digits and single dashes, such as send-reminder", name)
	}
	if token.IsKeyword(name) || slices.Contains(taken, name) {
		return nil, fmt.Errorf("%q cannot name a function: the name is reserved", name)
	}
	if exists(root, "supabase", "functions", name) {
		return nil, fmt.Errorf("supabase/functions/%s already exists, in TypeScript", name)
	}
	module, err := Module(root)
	if err != nil {
		return nil, err
	}
	registry := filepath.Join(root, "functions", "functions.go")
	old, err := os.ReadFile(registry)
	if err != nil {
		return nil, fmt.Errorf("this is not a project with functions: %w", err)
	}
	pkg := strings.ReplaceAll(name, "-", "")
	registered, err := register(old, module, name, pkg)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(root, "functions", name)
	if err := os.Mkdir(dir, 0o755); errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("functions/%s already exists", name)
	} else if err != nil {
		return nil, err
	}
	data := map[string]string{"Name": name, "Package": pkg, "Module": module}
	var written []string
	for file, text := range files {
		source, err := render(text, data)
		if err != nil {
			return written, err
		}
		if err := os.WriteFile(filepath.Join(dir, file), source, 0o644); err != nil {
			return written, err
		}
		written = append(written, filepath.Join("functions", name, file))
	}
	slices.Sort(written)
	// The registry is last, because a watcher builds when it changes.
	return append(written, filepath.Join("functions", "functions.go")), os.WriteFile(registry, registered, 0o644)
}

// NewTypeScript writes supabase/functions/<name>/ with a handler in TypeScript below root, the
// folder that contains supabase/. It returns the paths that it wrote, relative to root.
func NewTypeScript(root, name string) ([]string, error) {
	if !nameForm.MatchString(name) {
		return nil, fmt.Errorf("%q cannot name a function: use small letters, digits and single dashes, such as send-reminder", name)
	}
	if !exists(root, "supabase") {
		return nil, errors.New("this folder has no supabase/; `daawo init` creates one")
	}
	if exists(root, "functions", name) {
		return nil, fmt.Errorf("functions/%s already exists, in Go", name)
	}
	dir := filepath.Join("supabase", "functions", name)
	if exists(root, dir) {
		return nil, fmt.Errorf("%s already exists", dir)
	}
	if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
		return nil, err
	}
	files := map[string]string{
		"deno.json": "{\n  \"imports\": {}\n}\n", "index.ts": strings.ReplaceAll(typeScriptTemplate, "{{.Name}}", name),
	}
	var written []string
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(root, dir, file), []byte(files[file]), 0o644); err != nil {
			return written, err
		}
		written = append(written, filepath.Join(dir, file))
	}
	return written, nil
}

// exists reports whether there is a file or folder.
func exists(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}

func render(text string, data map[string]string) ([]byte, error) {
	var b bytes.Buffer
	if err := template.Must(template.New("").Parse(text)).Execute(&b, data); err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}

// Module returns the path of the module whose go.mod lies in root.
func Module(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("run this in the project's folder: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			return strings.TrimSpace(path), nil
		}
	}
	return "", errors.New("go.mod names no module")
}

// register adds the import of a function and its line in All, in alphabetical order.
func register(source []byte, module, name, pkg string) ([]byte, error) {
	line := fmt.Sprintf("\t%s %q", pkg, module+"/functions/"+name)
	if pkg == name {
		line = fmt.Sprintf("\t%q", module+"/functions/"+name)
	}
	text, err := insert(string(source), "import (\n", ")", line,
		func(l string) string { return l[strings.Index(l, `"`):] })
	if err != nil {
		return nil, err
	}
	text, err = insert(text, "var All = map[string]edge.Func{\n", "}", fmt.Sprintf("\t%q: %s.Func,", name, pkg),
		strings.TrimSpace)
	if err != nil {
		return nil, err
	}
	return format.Source([]byte(text))
}

// insert adds a line to the block between begin and the line end, in the order of key.
func insert(text, begin, end, line string, key func(string) string) (string, error) {
	before, rest, ok := strings.Cut(text, begin)
	block, after, ok2 := strings.Cut("\n"+rest, "\n"+end) // the block may be empty
	if !ok || !ok2 {
		return "", fmt.Errorf("functions/functions.go has no block %q; add the function by hand",
			strings.TrimSpace(begin))
	}
	var lines []string
	if block != "" {
		lines = strings.Split(block[1:], "\n")
	}
	at := len(lines)
	for i, l := range lines {
		if key(l) == key(line) {
			return "", errors.New("the function is already in functions/functions.go; edit it, or choose another name")
		}
		if key(l) > key(line) {
			at = i
			break
		}
	}
	lines = slices.Insert(lines, at, line)
	return before + begin + strings.Join(lines, "\n") + "\n" + end + after, nil
}
