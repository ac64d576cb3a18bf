// Command corpus starts the program on public Supabase projects and reports which start, how many
// of their migrations apply and why the others fail. Their files are fetched into a cache and are
// not part of this repository. `make corpus` runs it.
package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// list has a project per line: repository, commit, folder that contains supabase/, expected
// outcome. The outcome is ok, fails and its cause, or the project's own mistake, with which it
// starts on no Postgres.
//
//go:embed projects.txt
var list string

func main() {
	cache := flag.String("cache", defaultCache(), "`folder` of the fetched repositories, each in OWNER+NAME/repo")
	program := flag.String("program", "bin/daawo", "`path` of the program")
	other := flag.String("list", "", "`file` with another list, in the form of projects.txt")
	only := flag.String("only", "", "only repositories whose name contains this `text`")
	url := flag.String("database-url", "",
		"`URL` of a superuser of a server with extensions in C: each project starts in a new database there too")
	added := flag.String("extensions", "",
		"`paths` of extensions, as for daawo extensions add, with commas between: each project gets them")
	distribution := flag.String("distribution", "",
		"supabase: Supabase's Postgres instead of the embedded one")
	archive := flag.String("archive", "", "`file` with Supabase's Postgres; without it, daawo postgres add downloads it")
	functions := flag.Bool("functions", false, "call each function in TypeScript instead, and report which ones boot")
	fromNPM := flag.Bool("from-npm", false, "with -functions: modules of other hosts come from npm where it has them")
	flag.Parse()
	c := corpus{cache: *cache, program: *program, list: *other, only: *only, url: *url, distribution: *distribution,
		archive: *archive}
	if *added != "" {
		c.extensions = strings.Split(*added, ",")
	}
	run := c.run
	if *functions {
		run = func(ctx context.Context) error { return c.runFunctions(ctx, *fromNPM) }
	}
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func defaultCache() string {
	if dir := os.Getenv("CORPUS_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ".corpus"
	}
	return filepath.Join(dir, "daawo-corpus")
}

// entry is a line of the list.
type entry struct {
	repo, commit, folder string
	expected             string // ok, "fails: " and the cause, or "own mistake: " and the reason
}

// cause returns why the project is expected not to start, or "".
func (e entry) cause() string {
	if e.expected == "ok" {
		return ""
	}
	return strings.TrimPrefix(e.expected, "fails: ")
}

// ownMistake reports whether the project starts on no Postgres.
func (e entry) ownMistake() bool { return strings.HasPrefix(e.expected, "own mistake: ") }

func (e entry) name() string { return strings.TrimSuffix(e.repo+"/"+e.folder, "/.") }

// startsHere reports whether the project is expected to start on the embedded Postgres, to which
// extensions were added.
func (e entry) startsHere(added []string) bool {
	missing, ok := strings.CutPrefix(e.expected, "fails: C extension ")
	return e.expected == "ok" || ok && slices.Contains(added, missing)
}

// startsWithExtensions reports whether the project is expected to start on a server that has
// Debian's extensions in C.
func (e entry) startsWithExtensions() bool {
	return e.expected == "ok" || strings.HasPrefix(e.expected, "fails: C extension") &&
		!strings.Contains(e.expected, "Debian has no")
}

func parse(text string) (entries []entry, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) < 4 {
			return nil, fmt.Errorf("%q has no outcome", line)
		}
		entries = append(entries, entry{words[0], words[1], words[2], strings.Join(words[3:], " ")})
	}
	return entries, nil
}

// corpus is a run over the list.
type corpus struct {
	cache, program, only string
	distribution         string  // of Postgres, "" for the embedded one
	archive              string  // of the distribution, "" for a download
	lock                 []byte  // parts.lock with the distribution
	list                 string  // a file instead of projects.txt, or ""
	url                  string  // of the other server, "" for none
	server               *server // nil for none
	extensions           []string
	added                string   // data folder to which they were added, "" for none
	names                []string // of the compiled and the added extensions
}

// entries returns the projects of projects.txt, or of another list.
func (c *corpus) entries() ([]entry, error) {
	if c.list == "" {
		return parse(list)
	}
	other, err := os.ReadFile(c.list)
	if err != nil {
		return nil, err
	}
	return parse(string(other))
}

func (c *corpus) run(ctx context.Context) (err error) {
	entries, err := c.entries()
	if err != nil {
		return err
	}
	if c.program, err = filepath.Abs(c.program); err != nil {
		return err
	}
	if _, err := os.Stat(c.program); err != nil {
		return fmt.Errorf("%w; run `make build` first", err)
	}
	if c.url != "" {
		if c.server, err = openServer(ctx, c.url); err != nil {
			return fmt.Errorf("-database-url: %w", err)
		}
		defer func() { err = errors.Join(err, c.server.close(context.WithoutCancel(ctx))) }()
	}
	if len(c.extensions) > 0 {
		if err := c.addExtensions(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(c.added)) }()
	}
	if err := c.choosePostgres(ctx); err != nil {
		return err
	}
	fmt.Println("| project | embedded Postgres | migrations | -database-url | migrations | cause |")
	fmt.Println("|---|---|---|---|---|---|")
	var embedded, given total
	surprises := 0
	for _, e := range entries {
		if !strings.Contains(e.name(), c.only) {
			continue
		}
		here, there, err := c.tryBoth(ctx, e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.repo, err)
		}
		embedded.add(e, here)
		cause := e.cause()
		if c.surprises(e, here) {
			surprises++
			cause += " **unexpected** " + here.problem
		}
		second := "| | "
		if c.server != nil {
			given.add(e, there)
			second = there.cells()
			if there.starts() != e.startsWithExtensions() {
				surprises++
				cause += " **unexpected with -database-url** " + there.problem
			}
		}
		fmt.Printf("| %s %s %s | %s |\n", e.name(), here.cells(), second, cause)
	}
	with := ""
	if len(c.names) > 0 {
		with = " with the extensions " + strings.Join(c.names, ", ")
	}
	fmt.Printf("\nembedded Postgres%s: %s\n", with, embedded)
	if c.server != nil {
		fmt.Printf("-database-url: %s\n", given)
	}
	if surprises > 0 {
		return fmt.Errorf("%d outcomes differ from the list", surprises)
	}
	return nil
}

// surprises reports whether an outcome with the embedded Postgres, or the distribution's, is
// not the expected one. The list does not say whether a project starts with an extension that
// Debian has not, but Supabase's Postgres has.
func (c *corpus) surprises(e entry, r result) bool {
	if c.distribution == "" {
		return r.starts() != e.startsHere(c.names)
	}
	return r.starts() != e.startsWithExtensions() && !strings.Contains(e.expected, "Debian has no")
}

// tryBoth starts the program on one project, with the embedded Postgres and on the other server.
func (c *corpus) tryBoth(ctx context.Context, e entry) (here, there result, err error) {
	if here, err = c.try(ctx, e, ""); err != nil || c.server == nil {
		return here, there, err
	}
	url, err := c.server.create(ctx)
	if err != nil {
		return here, there, err
	}
	there, err = c.try(ctx, e, url)
	return here, there, errors.Join(err, c.server.drop(ctx))
}

// total sums outcomes.
type total struct{ projects, started, mistaken, migrations, applied int }

func (t *total) add(e entry, r result) {
	t.projects++
	t.migrations += r.migrations
	t.applied += r.applied
	if r.starts() {
		t.started++
	} else if e.ownMistake() {
		t.mistaken++
	}
}

// String returns the sums as a sentence.
func (t total) String() string {
	rate := 100 * float64(t.started) / max(1, float64(t.projects-t.mistaken))
	return fmt.Sprintf("%d of %d projects start as they are, with all migrations; %d fail by a mistake of their own. "+
		"Of the others %.1f %% start. %d of %d migrations apply.", t.started, t.projects, t.mistaken, rate, t.applied,
		t.migrations)
}

// result is the outcome of one project.
type result struct {
	started             bool
	migrations, applied int
	problem             string // the last error
}

// starts reports whether the project started with all of its migrations.
func (r result) starts() bool { return r.started && r.applied == r.migrations }

// cells returns the outcome as two cells of a table.
func (r result) cells() string {
	starts := "no"
	if r.starts() {
		starts = "yes"
	}
	return fmt.Sprintf("| %s | %d of %d", starts, r.applied, r.migrations)
}

// startLimit is how long a project may take to start.
const startLimit = 5 * time.Minute

// try starts the program on one project, with the embedded Postgres or the database of url.
func (c *corpus) try(ctx context.Context, e entry, url string) (r result, err error) {
	dir, err := os.MkdirTemp("", "corpus-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // for the user that runs Postgres
		return r, err
	}
	if err := extract(ctx, c.cache, e, dir); err != nil {
		return r, err
	}
	if c.added != "" && url == "" {
		if err := os.CopyFS(filepath.Join(dir, "data/extensions"), os.DirFS(filepath.Join(c.added, "extensions"))); err != nil {
			return r, err
		}
	}
	home := filepath.Join(dir, e.folder)
	if c.lock != nil {
		if err := os.WriteFile(filepath.Join(home, "supabase", "parts.lock"), c.lock, 0o644); err != nil {
			return r, err
		}
	}
	files, err := filepath.Glob(filepath.Join(home, "supabase", "migrations", "[0-9]*_*.sql"))
	if err != nil {
		return r, err
	}
	r.migrations = len(files)
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.program, "start", "--port", "0", "--workdir", home, "--data",
		filepath.Join(dir, "data"))
	cmd.Dir = dir
	cmd.Env = environment()
	if url != "" {
		cmd.Env = append(cmd.Env, "DATABASE_URL="+url)
	} else if c.distribution != "" {
		cmd.Env = append(cmd.Env, "SUPABASE_DB_DISTRIBUTION="+c.distribution)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return r, err
	}
	if err := cmd.Start(); err != nil {
		return r, err
	}
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "ready in") {
				r.started = true
				_ = cmd.Process.Signal(syscall.SIGTERM) // Wait reports it
			}
		}
	}()
	r.read(stderr)
	_ = cmd.Wait() // the error is in r.problem
	return r, nil
}

// read counts the applied migrations in the log and keeps the error that ends the program.
func (r *result) read(log io.Reader) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text := lines.Text()
		if strings.Contains(text, `"msg":"migration applied"`) {
			r.applied++
		}
		if !strings.HasPrefix(text, "{") && strings.TrimSpace(text) != "" {
			r.problem = strings.ReplaceAll(strings.TrimSpace(r.problem+" "+text), "|", `\|`)
		}
	}
}

// environment returns the variables of this process that do not configure the program.
func environment() []string {
	var kept []string
	for _, v := range os.Environ() {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "USER", "LANG":
			kept = append(kept, v)
		}
	}
	return kept
}

// extract writes the project's folder supabase/ at its commit below dir. It fetches the commit if
// the cache does not have it.
func extract(ctx context.Context, cache string, e entry, dir string) error {
	repo := filepath.Join(cache, strings.Replace(e.repo, "/", "+", 1), "repo")
	git := func(args ...string) error {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", repo}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
		return nil
	}
	if err := os.MkdirAll(repo, 0o755); err != nil {
		return err
	}
	if git("cat-file", "-e", e.commit+"^{commit}") != nil {
		if err := errors.Join(git("init", "--bare", "--quiet", "."),
			git("fetch", "--quiet", "--depth", "1", "https://github.com/"+e.repo, e.commit)); err != nil {
			return err
		}
	}
	archive := filepath.Join(dir, "files.tar")
	if err := git("archive", "--output", archive, e.commit, filepath.Join(e.folder, "supabase")); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "tar", "-xf", archive, "-C", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("tar: %w: %s", err, out)
	}
	return os.Remove(archive)
}
