package housetest

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module   = "daawo"
	stack    = "daawo/supabase/stack"
	edge     = "daawo/supabase/edge"
	internal = "daawo/supabase/internal/"
)

// within reports whether a path is one of names or below one of them.
func within(path string, names ...string) bool {
	return slices.ContainsFunc(names,
		func(name string) bool { return path == name || strings.HasPrefix(path, name+"/") })
}

// engine returns import paths of packages below supabase/internal.
func engine(names ...string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = internal + name
	}
	return out
}

// arrow is a rule: the packages of from, and those below them, must not import the packages of to
// or those below them.
type arrow struct {
	from, to []string
	except   []string // packages of from or to that the rule leaves out, with those below them
	tests    bool     // the rule holds for the direct imports of tests too
	why      string
}

var engines = []string{"rest", "auth", "storage", "realtime"}

// arrows are the forbidden directions of docs/architecture.md.
var arrows = []arrow{
	{from: engine("rest"), to: engine("auth", "storage", "realtime"), why: "engines do not import each other"},
	{from: engine("auth"), to: engine("rest", "storage", "realtime"), why: "engines do not import each other"},
	{from: engine("storage"), to: engine("rest", "auth", "realtime"), why: "engines do not import each other"},
	{from: engine("realtime"), to: engine("rest", "auth", "storage"), why: "engines do not import each other"},
	{
		from: engine(append(engines, "fnhost", "outbox", "mail", "db", "keys", "wire", "postgres", "migrate",
			"backup")...),
		to: engine("gateway", "app", "cli"), why: "only cli and stack are above the gateway and app",
	},
	{
		from: engine(engines...), to: engine("fnhost", "outbox", "postgres", "backup", "config"),
		why: "an engine uses db, keys, wire and mail",
	},
	{
		from: engine("gateway"), to: engine(append(engines, "fnhost", "db", "postgres", "config")...),
		why: "the gateway knows services as http.Handler",
	},
	{from: engine("db"), to: engine("keys", "wire", "postgres", "migrate", "observe", "config"),
		why: "db imports nothing of ours"},
	{
		from: engine("keys", "wire", "config", "observe", "mail"),
		to:   engine("db", "postgres", "migrate", "fnhost", "outbox"),
		why:  "packages that all services share import no service",
	},
	{
		from: []string{"daawo/functions"}, to: []string{"daawo/supabase", "daawo/web"}, tests: true,
		except: []string{"daawo/functions/admin", edge + "/edgetest"}, why: "functions import supabase/edge only",
	},
	{from: []string{edge}, to: []string{"daawo/functions", "daawo/supabase", "daawo/web"},
		except: []string{edge, edge + "/edgetest"}, tests: true, why: "edge imports nothing of ours"},
	{
		from: []string{edge + "/edgetest"},
		to:   []string{"daawo/supabase/internal/app", "daawo/supabase/internal/cli", "daawo/web"},
		why:  "edgetest imports edge and stack/functiontest",
	},
	{from: []string{stack}, to: []string{"daawo/functions", "daawo/web"}, except: []string{edge},
		why: "the stack knows no product"},
	{
		from: []string{"daawo/supabase/internal"}, to: []string{stack, "daawo/functions", "daawo/web"}, tests: true,
		except: []string{edge, "daawo/supabase/internal/housetest"},
		why:    "the stack's internal packages know no product",
	},
	{
		from: []string{stack + "/child"},
		to: append(engine("mail", "otlp", "fnmeter"), "github.com/riverqueue/river",
			"github.com/prometheus/client_golang", "google.golang.org/grpc", "google.golang.org/protobuf",
			"html/template"),
		why: "linking decides how soon an edit of a function is served",
	},
	{from: []string{"daawo/web"}, to: []string{"daawo/supabase", "daawo/functions"}, tests: true,
		why: "the site consists of files"},
}

// violations returns one line for each import of our packages that a rule forbids.
func violations(all map[string]pkg, rules []arrow) (found []string) {
	for _, rule := range rules {
		for importer, p := range all {
			if !within(importer, rule.from...) || within(importer, rule.except...) &&
				!slices.Contains(rule.from, importer) {
				continue
			}
			deps := p.Deps
			if rule.tests {
				deps = slices.Concat(deps, p.withTests())
			}
			slices.Sort(deps)
			for _, dep := range slices.Compact(deps) {
				if within(dep, rule.to...) && !within(dep, rule.except...) && !within(dep, importer) {
					found = append(found, fmt.Sprintf("%s imports %s, perhaps through another package: %s", importer,
						dep, rule.why))
				}
			}
		}
	}
	return found
}

// TestImportArrows checks the directions of imports.
func TestImportArrows(t *testing.T) {
	all := listPackages(t)
	rules := append(slices.Clone(arrows), authArrows(all)...)
	for _, v := range violations(all, rules) {
		t.Error(v)
	}
	for _, rule := range arrows {
		for _, name := range rule.from {
			if _, ok := all[name]; !ok &&
				!slices.Contains([]string{"daawo/functions", "daawo/supabase/internal"}, name) {
				t.Errorf("there is no package %s, which a rule names", name)
			}
		}
	}
}

// authArrows returns the rules inside auth for the packages that exist. From top to bottom: auth;
// the concerns, which do not import each other; session and message; store, ratelimit and helpers.
func authArrows(all map[string]pkg) (rules []arrow) {
	concerns := engine("auth/login", "auth/account", "auth/verify", "auth/external", "auth/mfa", "auth/provider",
		"auth/admin")
	middle := engine("auth/session", "auth/message")
	for name := range all {
		rest, ok := strings.CutPrefix(name, internal+"auth/")
		if !ok || rest == "gotrue" { // the front end of auth served alone is above it
			continue
		}
		only := []string{name}
		rules = append(rules, arrow{from: only, to: engine("auth/gotrue"), why: "gotrue is above auth"})
		concern, _, below := strings.Cut(rest, "/")
		switch own := internal + "auth/" + concern; {
		case below: // the helper of one package
			rules = append(rules, arrow{from: only, to: slices.Concat(concerns, middle), except: only,
				why: "helpers import no concern"})
		case slices.Contains(concerns, own):
			rules = append(rules, arrow{from: only, to: concerns, except: only,
				why: "the concerns of auth do not import each other"})
		case slices.Contains(middle, own):
			rules = append(rules, arrow{from: only, to: concerns,
				why: "session and message are below the concerns of auth"})
		default:
			rules = append(rules, arrow{from: only, to: slices.Concat(concerns, middle),
				why: "store, ratelimit and helpers are at the bottom of auth"})
		}
	}
	return rules
}

// importersOnly are packages that few packages may import.
var importersOnly = []struct {
	name      string
	importers []string
	why       string
}{
	{stack, []string{"daawo/supabase", "daawo/functions/admin", "daawo/supabase/acceptance"},
		"the stack is for programs"},
	{stack + "/child", nil, "only programs that the stack generates import it"},
	{stack + "/functiontest", []string{edge + "/edgetest"}, "edgetest is its API"},
	{"daawo/functions/admin", []string{"daawo/supabase", "daawo/supabase/acceptance"}, "the program has its commands"},
	{internal + "auth", engine("app", "auth/gotrue"), "auth is above its packages"},
}

// TestImporters checks which packages import the stack and the product, tests included.
func TestImporters(t *testing.T) {
	all := listPackages(t)
	for _, rule := range importersOnly {
		if _, ok := all[rule.name]; !ok {
			t.Errorf("there is no package %s, which a rule names", rule.name)
		}
	}
	for _, v := range wrongImporters(all) {
		t.Error(v)
	}
}

// wrongImporters returns one line for each import that importersOnly or the rule of functions/admin
// forbids.
func wrongImporters(all map[string]pkg) (found []string) {
	for _, rule := range importersOnly {
		for importer, p := range all {
			if slices.Contains(p.withTests(), rule.name) && importer != rule.name &&
				!slices.Contains(rule.importers, importer) {
				found = append(found, fmt.Sprintf("%s imports %s: %s", importer, rule.name, rule.why))
			}
		}
	}
	for _, name := range all["daawo/functions/admin"].withTests() {
		if within(name, module) && name != stack && name != edge {
			found = append(found, fmt.Sprintf("daawo/functions/admin imports %s: it may import supabase/stack and supabase/edge", name))
		}
	}
	return found
}

func TestWrongImporters(t *testing.T) {
	all := map[string]pkg{}
	for _, p := range []pkg{
		{ImportPath: "daawo/supabase", Imports: []string{stack, "daawo/functions/admin"}},
		{ImportPath: "daawo/functions/admin", Imports: []string{stack, edge}, TestImports: engine("testdb")},
		{ImportPath: internal + "cli", Imports: []string{stack + "/child"}},
		{ImportPath: internal + "app", XTestImports: []string{stack, internal + "auth"}},
		{ImportPath: internal + "auth/mfa", Imports: engine("auth")},
	} {
		all[p.ImportPath] = p
	}
	got := wrongImporters(all)
	for _, want := range []string{
		"daawo/functions/admin imports " + internal + "testdb:",
		internal + "cli imports " + stack + "/child:",
		internal + "app imports " + stack + ":",
		internal + "auth/mfa imports " + internal + "auth:",
	} {
		if !slices.ContainsFunc(got, func(v string) bool { return strings.HasPrefix(v, want) }) {
			t.Errorf("not found: %s", want)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d lines, want 4: %q", len(got), got)
	}
}

func TestViolations(t *testing.T) {
	all := map[string]pkg{}
	for _, p := range []pkg{
		{ImportPath: internal + "rest", Deps: engine("auth/store", "db")},
		{ImportPath: internal + "auth"},
		{ImportPath: internal + "auth/login", Deps: engine("auth/mfa", "auth/store")},
		{ImportPath: internal + "auth/session", Deps: engine("auth/store")},
		{ImportPath: internal + "auth/store", Deps: engine("auth/session")},
		{ImportPath: internal + "auth/mfa", Deps: engine("auth/gotrue")},
		{ImportPath: internal + "db", XTestImports: []string{stack, edge}},
		{ImportPath: "daawo/functions/digest", TestImports: engine("testdb"), Deps: []string{edge}},
		{ImportPath: "daawo/functions/admin", Deps: []string{stack, edge}},
		{ImportPath: stack, Deps: []string{"daawo/functions", edge}},
		{ImportPath: edge, XTestImports: []string{edge, edge + "/edgetest"}, Deps: []string{"daawo/functions/digest"}},
	} {
		all[p.ImportPath] = p
	}
	got := violations(all, append(slices.Clone(arrows), authArrows(all)...))
	for _, want := range []string{
		internal + "rest imports " + internal + "auth/store,",
		internal + "auth/login imports " + internal + "auth/mfa,",
		internal + "auth/store imports " + internal + "auth/session,",
		internal + "auth/mfa imports " + internal + "auth/gotrue,",
		internal + "db imports " + stack + ",",
		"daawo/functions/digest imports " + internal + "testdb,",
		stack + " imports daawo/functions,",
		edge + " imports daawo/functions/digest,",
	} {
		i := slices.IndexFunc(got, func(v string) bool { return strings.HasPrefix(v, want) })
		if i < 0 {
			t.Errorf("not found: %s", want)
			continue
		}
		got = slices.Delete(got, i, i+1)
	}
	for _, v := range got {
		t.Errorf("wrong: %s", v)
	}
}

// TestConnections checks that only db opens database connections for serving. Packages that run
// Postgres or move its schema or data have their own connections; all others get a pool.
func TestConnections(t *testing.T) {
	allowed := []string{
		"db", "postgres", "migrate", "backup", "testdb", "functionsdb", "app",
		"rest/pgrst", "auth/gotrue", // a service that is served alone is its own process
		"rest/loader.go", // LISTEN holds a connection
	}
	for _, name := range goFiles(t) {
		below, ok := strings.CutPrefix(name, "supabase/internal/")
		if !ok || strings.HasSuffix(name, "_test.go") || within(below, allowed...) {
			continue
		}
		text := read(t, name)
		for _, call := range []string{"pgxpool.New", "pgx.Connect", "pgconn.Connect", "sql.Open"} {
			if strings.Contains(text, call) {
				t.Errorf("%s calls %s…: it should get a db.Pool", name, call)
			}
		}
	}
	for _, name := range allowed {
		if found, err := filepath.Glob(filepath.Join(root(t), path.Join("supabase/internal", name))); err != nil ||
			len(found) == 0 {
			t.Errorf("supabase/internal/%s may open connections, but does not exist", name)
		}
	}
}
