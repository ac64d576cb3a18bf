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
	edgetest = "daawo/supabase/edgetest"
	internal = "daawo/supabase/internal/"
)

// within reports whether a path is one of names or below one of them.
func within(path string, names ...string) bool {
	return slices.ContainsFunc(names,
		func(name string) bool { return path == name || strings.HasPrefix(path, name+"/") })
}

// inside returns import paths of packages below supabase/internal.
func inside(names ...string) []string {
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

// engines are the packages of the engines.
var engines = inside("engine/rest", "engine/auth", "engine/storage", "engine/realtime", "engine/meta")

// layers are the folders of supabase/internal from top to bottom. A package imports its own layer
// and those below, never one above.
var layers = [][]string{
	inside("cli"),
	inside("app"),
	inside("gateway", "engine", "functions"),
	inside("database"),
	inside("base", "parts"),
}

// layerArrows returns the rules of layers.
func layerArrows() (rules []arrow) {
	for i, above := range layers {
		for _, below := range layers[i+1:] {
			rules = append(rules, arrow{from: below, to: above,
				why: "cli → app → gateway, engine, functions → database → base"})
		}
	}
	return rules
}

// engineArrows returns the rules between the engines.
func engineArrows() (rules []arrow) {
	for _, name := range engines {
		others := slices.DeleteFunc(slices.Clone(engines), func(other string) bool { return other == name })
		rules = append(rules, arrow{from: []string{name}, to: others, why: "engines do not import each other"})
	}
	return rules
}

// arrows are the other forbidden directions of docs/architecture.md.
var arrows = []arrow{
	{
		from: engines,
		to:   inside("gateway", "functions", "database/server", "database/backup", "base/config"),
		why:  "an engine uses database/pool, keys, apierror and mail",
	},
	{
		from: inside("gateway"), to: inside("engine", "functions", "database", "base/config"),
		why: "the gateway knows services as http.Handler",
	},
	{
		from: inside("functions"), to: inside("engine", "gateway"),
		why: "functions reach the engines through the gateway",
	},
	{
		from: inside("database/pool"), to: inside("base", "database/server", "database/migrate"),
		why: "pool imports nothing of ours",
	},
	{
		from: []string{"daawo/functions"}, to: []string{"daawo/supabase", "daawo/web"}, tests: true,
		except: []string{"daawo/functions/admin", "daawo/functions/product", edge, edgetest},
		why:    "functions import supabase/edge only",
	},
	{
		from: []string{edge}, to: []string{"daawo/functions", "daawo/supabase", "daawo/web"},
		except: []string{edge, edgetest}, tests: true, why: "edge imports nothing of ours",
	},
	{
		from: []string{edgetest}, to: append(inside("app", "cli", "engine", "gateway"), "daawo/functions", "daawo/web"),
		why: "edgetest runs functions without the stack",
	},
	{
		from: []string{stack, "daawo/supabase/internal"}, to: []string{"daawo/functions", "daawo/web"}, tests: true,
		except: inside("housetest"), why: "the stack knows no product",
	},
	{
		from: []string{"daawo/supabase/internal"}, to: []string{stack, edgetest}, tests: true,
		except: inside("housetest"), why: "stack and edgetest are above the internal packages",
	},
	{
		from: []string{stack + "/child"},
		to: append(inside("base/mail", "functions/child", "functions/deploy"), "github.com/riverqueue/river",
			"github.com/prometheus/client_golang", "go.opentelemetry.io/otel/exporters", "google.golang.org/grpc",
			"google.golang.org/protobuf", "html/template"),
		why: "linking decides how soon an edit of a function is served",
	},
	{
		from: []string{"daawo/supabase", "daawo/functions"}, to: []string{"github.com/supabase-community"},
		except: []string{edge + "/supabaseclient"},
		why:    "storage-go, which supabase-go imports, states no licence: functions choose it",
	},
	{
		from: []string{"daawo/web"}, to: []string{"daawo/supabase", "daawo/functions"}, tests: true,
		why: "the site consists of files",
	},
}

// violations returns one line for each import of our packages that a rule forbids.
func violations(all map[string]pkg, rules []arrow) (found []string) {
	for _, rule := range rules {
		for importer, p := range all {
			if !within(importer, rule.from...) || within(importer, rule.except...) &&
				!slices.Contains(rule.from, importer) {
				continue
			}
			deps := slices.Clone(p.Deps)
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

// anyWithin reports whether a package has the name or is below it.
func anyWithin(all map[string]pkg, name string) bool {
	for path := range all {
		if within(path, name) {
			return true
		}
	}
	return false
}

// TestImportArrows checks the directions of imports.
func TestImportArrows(t *testing.T) {
	all := listPackages(t)
	rules := slices.Concat(arrows, layerArrows(), engineArrows(), authArrows(all))
	for _, v := range violations(all, rules) {
		t.Error(v)
	}
	for _, rule := range rules {
		for _, name := range slices.Concat(rule.from, rule.to, rule.except) {
			if within(name, module) && !anyWithin(all, name) {
				t.Errorf("there is no package %s, which a rule names", name)
			}
		}
	}
}

// authArrows returns the rules inside auth for the packages that exist. From top to bottom: auth;
// the concerns, which do not import each other; session and message; store, ratelimit and helpers.
func authArrows(all map[string]pkg) (rules []arrow) {
	concerns := inside("engine/auth/login", "engine/auth/account", "engine/auth/verify", "engine/auth/external",
		"engine/auth/mfa", "engine/auth/provider", "engine/auth/sso", "engine/auth/admin")
	middle := inside("engine/auth/session", "engine/auth/message")
	for name := range all {
		rest, ok := strings.CutPrefix(name, internal+"engine/auth/")
		if !ok || rest == "gotrue" { // the front end of auth served alone is above it
			continue
		}
		only := []string{name}
		rules = append(rules, arrow{from: only, to: inside("engine/auth/gotrue"), why: "gotrue is above auth"})
		concern, _, below := strings.Cut(rest, "/")
		switch own := internal + "engine/auth/" + concern; {
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
	{stack, []string{"daawo/supabase", "daawo/functions/admin", "daawo/functions/product", "daawo/supabase/acceptance"},
		"the stack is for programs"},
	{stack + "/child", nil, "only programs that the stack generates import it"},
	{"daawo/functions/admin", []string{"daawo/functions/product", "daawo/supabase/acceptance"},
		"the product has its commands"},
	{"daawo/functions/product", []string{"daawo/supabase", "daawo/supabase/acceptance"}, "main.go has its options"},
	{internal + "engine/auth", inside("app", "engine/auth/gotrue"), "auth is above its packages"},
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
		{ImportPath: "daawo/supabase", Imports: []string{stack, "daawo/functions/product"}},
		{ImportPath: "daawo/functions/admin", Imports: []string{stack, edge}, TestImports: inside("database/testdb")},
		{ImportPath: internal + "cli", Imports: []string{stack + "/child"}},
		{ImportPath: internal + "app", XTestImports: []string{stack, internal + "engine/auth"}},
		{ImportPath: internal + "engine/auth/mfa", Imports: inside("engine/auth")},
	} {
		all[p.ImportPath] = p
	}
	got := wrongImporters(all)
	for _, want := range []string{
		"daawo/functions/admin imports " + internal + "database/testdb:",
		internal + "cli imports " + stack + "/child:",
		internal + "app imports " + stack + ":",
		internal + "engine/auth/mfa imports " + internal + "engine/auth:",
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
		{ImportPath: internal + "engine/rest", Deps: inside("engine/auth/store", "database/pool")},
		{ImportPath: internal + "engine/auth"},
		{ImportPath: internal + "engine/auth/login", Deps: inside("engine/auth/mfa", "engine/auth/store")},
		{ImportPath: internal + "engine/auth/session", Deps: inside("engine/auth/store")},
		{ImportPath: internal + "engine/auth/store", Deps: inside("engine/auth/session")},
		{ImportPath: internal + "engine/auth/mfa", Deps: inside("engine/auth/gotrue")},
		{ImportPath: internal + "database/pool", XTestImports: []string{stack, edge}},
		{ImportPath: internal + "base/keys", Deps: inside("app/keyring")},
		{ImportPath: "daawo/functions/digest", TestImports: inside("database/testdb"), Deps: []string{edge}},
		{ImportPath: "daawo/functions/admin", Deps: []string{stack, edge}},
		{ImportPath: stack, Deps: []string{"daawo/functions", edge}},
		{ImportPath: edge, XTestImports: []string{edge, edgetest}, Deps: []string{"daawo/functions/digest"}},
	} {
		all[p.ImportPath] = p
	}
	got := violations(all, slices.Concat(arrows, layerArrows(), engineArrows(), authArrows(all)))
	for _, want := range []string{
		internal + "engine/rest imports " + internal + "engine/auth/store,",
		internal + "engine/auth/login imports " + internal + "engine/auth/mfa,",
		internal + "engine/auth/store imports " + internal + "engine/auth/session,",
		internal + "engine/auth/mfa imports " + internal + "engine/auth/gotrue,",
		internal + "database/pool imports " + stack + ",",
		internal + "base/keys imports " + internal + "app/keyring,",
		"daawo/functions/digest imports " + internal + "database/testdb,",
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

// TestConnections checks that only packages of database open connections for serving. All others
// get a pool.
func TestConnections(t *testing.T) {
	allowed := []string{
		"database", "functions/testserver", "app",
		"engine/rest/pgrst", "engine/auth/gotrue", // a service that is served alone is its own process
		"engine/rest/loader.go", // LISTEN holds a connection
	}
	for _, name := range goFiles(t) {
		below, ok := strings.CutPrefix(name, "supabase/internal/")
		if !ok || strings.HasSuffix(name, "_test.go") || within(below, allowed...) {
			continue
		}
		text := read(t, name)
		for _, call := range []string{"pgxpool.New", "pgx.Connect", "pgconn.Connect", "sql.Open"} {
			if strings.Contains(text, call) {
				t.Errorf("%s calls %s…: it should get a pool.Pool", name, call)
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
