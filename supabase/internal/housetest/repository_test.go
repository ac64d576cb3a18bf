package housetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// root returns the top folder of the repository: the one with go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no folder above the test has a go.mod")
		}
		dir = filepath.Dir(dir)
	}
}

// read returns the text of a file. name is a path below the top folder.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tracked returns the paths of the files that git tracks, below the top folder. It skips the test
// outside a checkout.
func tracked(t *testing.T, folders ...string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", append([]string{"ls-files", "-z", "--"}, folders...)...)
	list.Dir = root(t)
	out, err := list.Output()
	if err != nil {
		t.Skip("not a git checkout: ", err)
	}
	var files []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		info, err := os.Stat(filepath.Join(list.Dir, name))
		if name != "" && err == nil && info.Mode().IsRegular() { // a deleted file stays tracked until the commit
			files = append(files, name)
		}
	}
	if len(files) == 0 {
		t.Fatalf("git tracks no files in %v", folders)
	}
	return files
}

// goFiles returns the paths of the Go files in the source folders, below the top folder.
func goFiles(t *testing.T) []string {
	t.Helper()
	top := root(t)
	var files []string
	for _, folder := range []string{"supabase", "functions", "web", "scripts", "docker"} {
		err := filepath.WalkDir(filepath.Join(top, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && slices.Contains([]string{"node_modules", "testdata", "dist"}, d.Name()) {
				return fs.SkipDir
			}
			if !d.IsDir() && strings.HasSuffix(path, ".go") {
				files = append(files, filepath.ToSlash(strings.TrimPrefix(path, top+string(filepath.Separator))))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) < 200 {
		t.Fatalf("found only %d Go files", len(files))
	}
	return files
}

// pkg is the output of `go list` for one package.
type pkg struct {
	ImportPath   string
	Dir          string
	Doc          string
	Deps         []string // direct and indirect imports
	Imports      []string // direct imports
	TestImports  []string // of its tests, and of those in package NAME_test
	XTestImports []string
}

// withTests returns the direct imports of the package and its tests.
func (p pkg) withTests() []string { return slices.Concat(p.Imports, p.TestImports, p.XTestImports) }

// listPackages returns our packages by import path.
func listPackages(t *testing.T) map[string]pkg {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal("go list: ", err)
	}
	return maps.Clone(all)
}

// packages asks `go list` once for all tests.
var packages = sync.OnceValues(func() (map[string]pkg, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Deps,Imports,TestImports,XTestImports", module+"/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	all := map[string]pkg{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all[p.ImportPath] = p
	}
})

// TestTopLevelFolders checks that each tracked file is in a folder of docs/architecture.md.
func TestTopLevelFolders(t *testing.T) {
	allowed := []string{".ci", ".github", "docker", "docs", "functions", "scripts", "supabase", "web"}
	for _, path := range tracked(t) {
		if folder, _, ok := strings.Cut(path, "/"); ok && !slices.Contains(allowed, folder) {
			t.Errorf("%s: %s is not a top-level folder of the layout", path, folder)
		}
	}
}

// launcher is the only file with an init function. It does nothing but in the processes that become
// jailed programs, and there it must run before main, also in programs that use the stack as a
// library.
const launcher = "supabase/internal/functions/jail/launch_linux.go"

// TestNoInitFunctions checks that importing a package runs no code: packages of the program have no
// init function.
func TestNoInitFunctions(t *testing.T) {
	for _, name := range goFiles(t) {
		if name == launcher || !within(name, "supabase", "functions", "web") {
			continue
		}
		if hasInit(t, read(t, name)) {
			t.Errorf("%s declares init", name)
		}
	}
}

func TestHasInit(t *testing.T) {
	for source, want := range map[string]bool{
		"package p\nfunc init() {}": true, "package p\ntype t int\nfunc (t) init() {}": false,
		"package p\nfunc start() {}": false,
	} {
		if got := hasInit(t, source); got != want {
			t.Errorf("%q: %t", source, got)
		}
	}
}

func hasInit(t *testing.T, source string) bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name == "init"
	})
}
