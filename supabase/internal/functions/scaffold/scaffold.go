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

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// taken lists names of folders and packages with another meaning.
var taken = []string{"edge", "main", "init", "internal", "vendor", "testdata"}

// New writes functions/<name>/ with a handler and its test below root, the folder of go.mod, and
// registers the function. It returns the paths that it wrote, relative to root.
func New(root, name string) ([]string, error) {
	if !nameForm.MatchString(name) {
		return nil, fmt.Errorf("%q cannot name a function: use small letters, digits and single dashes, such as send-reminder", name)
	}
	if token.IsKeyword(name) || slices.Contains(taken, name) {
		return nil, fmt.Errorf("%q cannot name a function: the name is reserved", name)
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
	for file, text := range map[string]string{"func.go": funcTemplate, "func_test.go": testTemplate} {
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
