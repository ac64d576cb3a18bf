package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pkg is what `go list` says of a package.
type pkg struct {
	ImportPath string
	Dir        string
	Doc        string
	Deps       []string // everything it needs, at any distance
	Imports    []string // what it names itself
}

const internal = "daawo/supabase/internal/"

func listPackages(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Deps,Imports", "daawo/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal("go list: ", err)
	}
	all := map[string]pkg{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// within says whether path is one of the packages or lies below one.
func within(path string, names ...string) bool {
	for _, name := range names {
		if path == name || strings.HasPrefix(path, name+"/") {
			return true
		}
	}
	return false
}

func inside(names ...string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = internal + name
	}
	return out
}

// TestHouseRules: data flows one way, gateway → engines → db → Postgres; engines do not know each other; what they share
// lies below them; only app knows all.
func TestHouseRules(t *testing.T) {
	all := listPackages(t)
	engines := []string{"rest", "auth", "storage"}
	never := []struct {
		from, to []string
		why      string
	}{
		{inside("rest"), inside("auth", "storage"), "engines do not know each other"},
		{inside("auth"), inside("rest", "storage"), "engines do not know each other"},
		{inside("storage"), inside("rest", "auth"), "engines do not know each other"},
		{inside(append(engines, "fnhost", "outbox", "mail", "db", "keys", "wire", "postgres", "migrate", "backup")...), inside("gateway", "app", "cli"), "nothing below reaches up to the gateway or app"},
		{inside(engines...), inside("fnhost", "outbox", "postgres", "backup", "config"), "an engine stands on db, keys and wire"},
		{inside("gateway"), inside(append(engines, "fnhost", "db", "postgres", "config")...), "the gateway knows services as http.Handler"},
		{inside("db"), inside("keys", "wire", "postgres", "migrate", "observe", "config"), "db stands on nothing of ours"},
		{inside("keys", "wire", "config", "observe", "mail"), inside("db", "postgres", "migrate", "fnhost", "outbox"), "what everybody shares knows nobody"},
		{[]string{"daawo/functions"}, []string{"daawo/supabase"}, "functions see edge only"},
		{[]string{"daawo/functions/edge"}, []string{"daawo/functions/submit-report", "daawo/functions/track-download", "daawo/supabase"}, "edge imports nothing of ours"},
		{[]string{"daawo/web"}, []string{"daawo/supabase", "daawo/functions"}, "the site is files"},
	}
	for path, p := range all {
		for _, rule := range never {
			if !within(path, rule.from...) {
				continue
			}
			for _, dep := range p.Deps {
				if within(dep, rule.to...) && !within(dep, path) {
					t.Errorf("%s needs %s: %s", path, dep, rule.why)
				}
			}
		}
	}
}

// TestWhoOpensConnections: one package opens connections for serving. Those that run Postgres, move its schema or its data
// have their own; everybody else is handed a pool.
func TestWhoOpensConnections(t *testing.T) {
	may := inside("db", "postgres", "migrate", "backup", "testdb", "app",
		"rest/pgrst", "auth/gotrue") // a service served alone is its own process
	listens := filepath.Join(internal+"rest", "loader.go") // LISTEN holds a connection for good
	for path, p := range listPackages(t) {
		if !strings.HasPrefix(path, internal) || within(path, may...) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range []string{"pgxpool.New", "pgx.Connect", "pgconn.Connect", "sql.Open"} {
				name := filepath.Join(path, filepath.Base(file))
				if bytes.Contains(text, []byte(call)) && !strings.HasSuffix(file, "_test.go") && name != listens {
					t.Errorf("%s calls %s…: it should be handed a db.Pool", name, call)
				}
			}
		}
	}
}

// TestEveryPackageSaysWhatItIs: the first paragraph is for a newcomer.
func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for path, p := range listPackages(t) {
		if within(path, "daawo/supabase", "daawo/functions", "daawo/web") && len(p.Doc) < 40 {
			t.Errorf("%s has no package comment that says what it is", path)
		}
	}
}

var (
	saysImporters = regexp.MustCompile(`(?i)\b(?:only ([^.;:]*?)|nothing) imports? (?:it|this package)\b`)
	saysAnybody   = regexp.MustCompile(`\bimports? (?:it|this package)\b`)
	saysImports   = regexp.MustCompile(`(?i)\bof ours it imports ([^.;:]*)|\bimports (nothing) of ours\b`)
)

// TestPackagesSayWhoImportsThem: "Only app and auth import it", "Of ours it imports db and wire" and "imports nothing of ours"
// in a package's comment are what the source says. A name stands for what lies below it as well; tests may import anything.
func TestPackagesSayWhoImportsThem(t *testing.T) {
	all := listPackages(t)
	importers := map[string][]string{}
	for path, p := range all {
		for _, name := range p.Imports {
			importers[name] = append(importers[name], path)
		}
	}
	said := 0
	for path, p := range all {
		if !strings.HasPrefix(path, internal) {
			continue
		}
		text := packageComment(t, p.Dir)
		who := saysImporters.FindAllStringSubmatch(text, -1)
		if len(who) != len(saysAnybody.FindAllString(text, -1)) {
			t.Errorf(`%s: say who imports it as "Only … import it", so that this can be checked`, path)
		}
		for _, m := range who {
			said++
			compareNames(t, path+" is imported by", path, m[1], importers[path])
		}
		for _, m := range saysImports.FindAllStringSubmatch(text, -1) {
			said++
			ours := slices.DeleteFunc(slices.Clone(p.Imports), func(name string) bool { return !strings.HasPrefix(name, "daawo/") })
			compareNames(t, path+" imports", path, m[1], ours)
		}
	}
	if said < 40 {
		t.Errorf("only %d sentences were found: are the patterns right?", said)
	}
}

// compareNames compares a list in words with the packages that it should name, but for those below the package itself.
func compareNames(t *testing.T, what, self, words string, are []string) {
	t.Helper()
	var named []string
	for name := range strings.SplitSeq(strings.ReplaceAll(words, " and ", ", "), ", ") {
		switch {
		case name == "" || name == "tests":
		case name == "package main":
			named = append(named, "daawo/supabase")
		case strings.HasPrefix(name, "functions/"):
			named = append(named, "daawo/"+name)
		default:
			named = append(named, internal+name)
		}
	}
	means := func(path, name string) bool { return path == name || name != "daawo/supabase" && within(path, name) }
	for _, name := range named {
		if !slices.ContainsFunc(are, func(path string) bool { return means(path, name) }) {
			t.Errorf("%s no %s, which its comment names", what, name)
		}
	}
	for _, path := range are {
		if !within(path, self) && !slices.ContainsFunc(named, func(name string) bool { return means(path, name) }) {
			t.Errorf("%s %s, which its comment does not name", what, path)
		}
	}
}

// packageComment is the whole comment of a package, on one line.
func packageComment(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(file.Doc.Text() + " ")
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

// TestFilesStaySmall: a file of 500 lines asks for a second room. Tables of SQL or golden values may be longer.
func TestFilesStaySmall(t *testing.T) {
	const most = 500
	var sizes []int
	for _, root := range []string{".", "../functions", "../web", "../scripts", "../docker"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && slices.Contains([]string{"node_modules", "testdata", "dist"}, d.Name()) {
				return fs.SkipDir
			}
			if !strings.HasSuffix(path, ".go") {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			lines := bytes.Count(text, []byte("\n"))
			if !strings.HasSuffix(path, "_test.go") {
				sizes = append(sizes, lines)
				if lines > most {
					t.Errorf("%s has %d lines, more than %d", path, lines, most)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(sizes)
	p90 := sizes[len(sizes)*9/10]
	if p90 > 450 {
		t.Errorf("nine of ten files should have at most 450 lines, they have %d", p90)
	}
	t.Logf("%d files, median %d lines, p90 %d", len(sizes), sizes[len(sizes)/2], p90)
}

// TestNothingRunsAtImport: no registries that fill themselves, no state that starts without being asked.
func TestNothingRunsAtImport(t *testing.T) {
	for _, root := range []string{".", "../functions", "../web"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
				return fs.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(path, ".go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			for _, name := range initFunctions(file) {
				t.Errorf("%s declares %s", path, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestTopLevelFolders: there is a place for everything already.
func TestTopLevelFolders(t *testing.T) {
	entries, err := exec.Command("git", "ls-files", "..").Output()
	if err != nil {
		t.Skip("not a git checkout")
	}
	allowed := []string{".ci", ".github", "docker", "docs", "functions", "scripts", "supabase", "web"}
	for path := range strings.Lines(string(entries)) {
		top, _, inFolder := strings.Cut(strings.TrimPrefix(strings.TrimSpace(path), "../"), "/")
		if inFolder && strings.HasPrefix(path, "../") && !slices.Contains(allowed, top) {
			t.Errorf("%s: there is no folder %s in the house", strings.TrimSpace(path), top)
		}
	}
}

func initFunctions(file *ast.File) []string {
	var found []string
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			found = append(found, "init")
		}
	}
	return found
}

// TestLockFileIsWhole: npm leaves the packages of other platforms out of package-lock.json when the registry at hand does
// not have them, and `npm ci` then refuses the file everywhere.
func TestLockFileIsWhole(t *testing.T) {
	text, err := os.ReadFile("../package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct {
			Optional map[string]string `json:"optionalDependencies"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	for path, p := range lock.Packages {
		for name := range p.Optional {
			_, hoisted := lock.Packages["node_modules/"+name]
			_, nested := lock.Packages[path+"/node_modules/"+name]
			if !hoisted && !nested {
				t.Errorf("package-lock.json lacks %s, which %s names", name, path)
			}
		}
	}
}
