package housetest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// Limits of size.
const (
	maxFileLines     = 450
	maxFunctionLines = 80
	maxComplexity    = 20 // cyclomatic
	maxMethods       = 25
	exceptionMethods = 40 // of a type in sizeExceptions
)

// sizeExceptions are larger for a reason. A name is a file, or a folder with the name of a function
// or type.
var sizeExceptions = map[string]string{
	"supabase/internal/cli.Invocation":                   "Main's commands get it: its flags, project and output",
	"supabase/internal/database/backup/physical.Service": "a backup, its test restore, the log and the pruning share one lock",
	"supabase/internal/database/server.Server":           "the states of one process of Postgres",
	"supabase/internal/engine/auth/login.Service":        "GoTrue's routes of signup and login, with their steps",
	"supabase/internal/engine/auth/mfa.Service":          "GoTrue's routes of factors and passkeys, with their steps",
	"supabase/internal/engine/auth/provider.Server":      "GoTrue's routes of OAuth clients and grants",
	"supabase/internal/engine/realtime.Engine":           "Realtime's routes, and the connections that share its limits",
	"supabase/internal/engine/realtime.channel":          "the messages of the protocol, which one goroutine handles",
	"supabase/internal/engine/realtime/changes.Stream":   "one replication connection and its subscribers",
	"supabase/internal/engine/realtime/changes.batch":    "the steps of one transaction",
	"supabase/internal/engine/rest/grammar.parser":       "a method per production of the grammar",
	"supabase/internal/engine/storage/backend.Disk":      "implements Backend, which S3 does as well",
	"supabase/internal/engine/storage/backend.S3":        "implements Backend, which Disk does as well",
	"supabase/internal/engine/storage/s3.call":           "a method per operation of the S3 protocol",
	"supabase/internal/functions/jobs.Outbox":            "the queue with its workers for mails and webhooks",
	"supabase/internal/gateway.gateway":                  "the steps of one request",
}

// oversize is something that exceeds a limit.
type oversize struct{ name, size string }

// TestSizes checks the limits of size for all Go files, tests included.
func TestSizes(t *testing.T) {
	s := newSizes()
	for _, name := range goFiles(t) {
		if err := s.add(name, read(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	used := map[string]bool{}
	for _, o := range s.oversized() {
		if sizeExceptions[o.name] == "" {
			t.Errorf("%s: %s", o.name, o.size)
		}
		used[o.name] = true
	}
	for name := range sizeExceptions {
		if !used[name] {
			t.Errorf("sizeExceptions names %s, which exceeds no limit", name)
		}
	}
}

// maxScriptLines is the limit of the files of the site and the desk.
const maxScriptLines = 200

// TestScriptSizes checks the length of the TypeScript files of the site and the desk, tests
// included.
func TestScriptSizes(t *testing.T) {
	for folder, least := range map[string]int{"web/src": 200, "web/desk/src": 100} {
		found := 0
		for _, name := range tracked(t, folder) {
			if !strings.HasSuffix(name, ".ts") && !strings.HasSuffix(name, ".tsx") {
				continue
			}
			found++
			if lines := scriptLines(read(t, name)); lines > maxScriptLines {
				t.Errorf("%s: %d lines, more than %d", name, lines, maxScriptLines)
			}
		}
		if found < least {
			t.Errorf("found only %d files in %s", found, folder)
		}
	}
}

// scriptLines returns the number of lines of a file, or 0 for one that `daawo gen types` has
// written.
func scriptLines(text string) int {
	if strings.HasPrefix(text, "// Written by `daawo gen types") {
		return 0
	}
	return strings.Count(text, "\n")
}

func TestScriptLines(t *testing.T) {
	for text, want := range map[string]int{
		"a;\nb;\n":                  2,
		"// Written by hand.\na;\n": 2,
		"// Written by `daawo gen types`; the database.\na;\n": 0,
	} {
		if got := scriptLines(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// sizes measures files of Go.
type sizes struct {
	found   []oversize
	methods map[string]int // by folder and name of the type
}

func newSizes() *sizes { return &sizes{methods: map[string]int{}} }

// add measures a file. Generated files have no limits.
func (s *sizes) add(name, text string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	if lines := strings.Count(text, "\n"); lines > maxFileLines {
		s.found = append(s.found, oversize{name, fmt.Sprintf("%d lines, more than %d", lines, maxFileLines)})
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv != nil {
				s.methods[path.Dir(name)+"."+receiver(decl)]++
			}
			if decl.Body != nil {
				s.function(path.Dir(name)+"."+decl.Name.Name, files, decl)
			}
		case *ast.GenDecl: // variables may hold functions
			ast.Inspect(decl, func(n ast.Node) bool {
				f, ok := n.(*ast.FuncLit)
				if ok {
					s.function(fmt.Sprintf("%s.func", name), files, f)
				}
				return !ok
			})
		}
	}
	return nil
}

// function measures a function, closures included.
func (s *sizes) function(name string, files *token.FileSet, f ast.Node) {
	if lines := files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1; lines > maxFunctionLines {
		s.found = append(s.found, oversize{name, fmt.Sprintf("%d lines, more than %d", lines, maxFunctionLines)})
	}
	if c := complexity(f); c > maxComplexity {
		s.found = append(s.found,
			oversize{name, fmt.Sprintf("cyclomatic complexity %d, more than %d", c, maxComplexity)})
	}
}

// oversized returns what exceeds a limit, by name.
func (s *sizes) oversized() []oversize {
	found := slices.Clone(s.found)
	for name, n := range s.methods {
		if n > maxMethods {
			found = append(found, oversize{name, fmt.Sprintf("%d methods, more than %d", n, maxMethods)})
		}
		if n > exceptionMethods {
			found = append(found,
				oversize{name + " in spite of its exception",
					fmt.Sprintf("%d methods, more than %d", n, exceptionMethods)})
		}
	}
	slices.SortFunc(found, func(a, b oversize) int { return strings.Compare(a.name, b.name) })
	return found
}

// receiver returns the name of a method's type.
func receiver(method *ast.FuncDecl) string {
	t := method.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// TestNoStructEmbedsApp checks that the parts of app are built from what they need.
func TestNoStructEmbedsApp(t *testing.T) {
	for _, name := range goFiles(t) {
		if !strings.HasPrefix(name, "supabase/") {
			continue
		}
		found, err := embedding("App", name, read(t, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range found {
			t.Errorf("%s embeds App; give the struct the members that it needs", at)
		}
	}
}

// embedding returns the places where a struct of a file embeds a type of this name, as a pointer or
// not.
func embedding(embedded, name, text string) (found []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		structure, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range structure.Fields.List {
			if len(field.Names) == 0 && typeName(field.Type) == embedded {
				found = append(found, files.Position(field.Pos()).String())
			}
		}
		return true
	})
	return found, nil
}

// typeName returns the name of a type or of the type that a pointer points to, without its package.
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.Ident:
		return t.Name
	}
	return ""
}

func TestEmbedding(t *testing.T) {
	for source, want := range map[string]int{
		"type t struct { *App }": 1, "type t struct { App }": 1, "type t struct{ *app.App; n int }": 1,
		"func f() { var v struct{ u struct{ *App } } }": 1,
		"type t struct { app *App; Apps }":              0, "func (a *App) f() {}": 0,
	} {
		if found, err := embedding("App", "a.go", "package p\n"+source); err != nil || len(found) != want {
			t.Errorf("%s: %v %v, want %d", source, found, err, want)
		}
	}
}

// complexity counts the branches of a function: 1, and 1 for each if, loop, case, && and ||.
func complexity(f ast.Node) int {
	n := 1
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil { // not default
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

func TestOversized(t *testing.T) {
	repeat := func(line string, n int) string { return strings.Repeat(line+"\n", n) }
	methods := func(receiver string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "func (%s) m%d() {}\n", receiver, i)
		}
		return b.String()
	}
	for _, c := range []struct{ name, source, want string }{
		{"small", "func f() {}", ""},
		{"longest function", "func f() {\n" + repeat("g()", 78) + "}", ""},
		{"long function", "func f() {\n" + repeat("g()", 79) + "}", "d.f: 81 lines"},
		{"long closure", "var v = func() {\n" + repeat("g()", 79) + "}", "d/a.go.func: 81 lines"},
		{"branches", "func f(a bool) {\n" + repeat("if a || a {}", 9) + "if a {}\n}", ""},
		{"many branches", "func f(a bool) {\n" + repeat("if a || a {}", 10) + "}", "d.f: cyclomatic complexity 21"},
		{"many cases", "func f(a int) {\nswitch a {\n" + repeat("case 1:", 20) + "default:\n}\n}",
			"d.f: cyclomatic complexity 21"},
		{"many loops", "func f(a []int) {\n" + repeat("for range a {}", 20) + "}", "d.f: cyclomatic complexity 21"},
		{"many cases of select", "func f(a chan int) {\nselect {\n" + repeat("case <-a:", 20) + "default:\n}\n}",
			"d.f: cyclomatic complexity 21"},
		{"most methods", "type t int\n" + methods("t", 25), ""},
		{"many methods", "type t int\n" + methods("t", 26), "d.t: 26 methods"},
		{"many methods of a pointer", "type t[A any] struct{}\n" + methods("*t[A]", 26),
			"d.t: 26 methods, more than 25"},
		{"an exception with too many methods", "type t int\n" + methods("t", 41),
			"d.t: 41 methods, more than 25d.t in spite of its exception: 41 methods, more than 40"},
		{"longest file", repeat("// x", 449), ""},
		{"long file", repeat("// x", 450), "d/a.go: 451 lines"},
	} {
		s := newSizes()
		if err := s.add("d/a.go", "package p\n"+c.source); err != nil {
			t.Fatal(err)
		}
		var got string
		for _, o := range s.oversized() {
			got += o.name + ": " + o.size
		}
		if want := c.want; want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
	generated := newSizes()
	if err := generated.add("d/a.go", "// Code generated by x. DO NOT EDIT.\n\npackage p\n"+
		repeat("// x", 450)); err != nil || generated.oversized() != nil {
		t.Errorf("a generated file: %v %v", generated.oversized(), err)
	}
}
