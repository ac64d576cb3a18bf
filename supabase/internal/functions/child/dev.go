package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"daawo/supabase/internal/base/tempdir"
	"daawo/supabase/internal/functions/host"

	"github.com/fsnotify/fsnotify"
)

// DevOptions configure a Dev.
type DevOptions struct {
	Root string     // the folder of go.mod
	Host *host.Host // has the functions of this program and serves until the first change
	// returns the present configuration of a child; call Reconfigure after a change
	Child   func() (host.ChildConfig, error)
	Public  bool                        // other machines can call: compiler errors appear in the terminal only
	Changed func(context.Context) error // called after a reload, because schedules may differ; nil for nothing
	Log     *slog.Logger
}

// Dev serves functions during development. When a file below functions/ changes, it builds the
// functions again, starts them in a child process and sends new calls there over a unix socket.
// Running calls end in the process where they began. While the code does not compile, the last
// version continues to serve.
type Dev struct {
	DevOptions
	dir    *tempdir.Dir // for binaries and sockets
	life   context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	served chan struct{} // of NewProgram: closed when the first version serves

	configuring sync.Mutex // one Reconfigure at a time, so that the last one sends the newest configuration

	mu      sync.RWMutex
	current server
	problem string // why there is no newer version, such as the compiler error; "" for no reason
}

// server is a version of the functions: in this program or in a child process.
type server interface {
	http.Handler
	MaxBody(path string) int64
	Schedules() map[string]string
	RunSchedule(ctx context.Context, name string) error
	RunJob(ctx context.Context, name, job string, args []byte) error
	Configure(host.ChildConfig) error // sends a changed configuration
	begin()                           // a call begins
	end()                             // a call ends
	Retire(ctx context.Context)       // ends the version after its calls
}

// NewDev starts watching the files. Close ends it, but not the Host.
func NewDev(o DevOptions) (*Dev, error) {
	watcher, err := watchFunctions(o.Root)
	if err != nil {
		return nil, err
	}
	dir, err := tempdir.New("", "dev")
	if err != nil {
		return nil, errors.Join(err, watcher.Close())
	}
	if err := writeOverlay(dir.Path, o.Root); err != nil {
		return nil, errors.Join(err, watcher.Close(), dir.Remove())
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &Dev{DevOptions: o, dir: dir, life: ctx, cancel: cancel, current: builtIn{o.Host}}
	d.done.Go(func() {
		defer watcher.Close()
		if d.stale() {
			d.watch(ctx, watcher, time.After(settle))
			return
		}
		_, _ = d.build(ctx, "first") // fills the build cache, so that the first edit is as fast as the next
		d.watch(ctx, watcher, nil)
	})
	return d, nil
}

// Close stops the watching and the child process.
func (d *Dev) Close(ctx context.Context) error {
	d.cancel()
	d.done.Wait()
	d.current.Retire(ctx)
	return d.dir.Remove()
}

// Schedules returns the schedules of the current version.
func (d *Dev) Schedules() map[string]string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.current.Schedules()
}

// Functions returns the functions of the current version, and whether they belong to this
// program.
func (d *Dev) Functions() (functions []host.FunctionInfo, builtIn bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	switch v := d.current.(type) {
	case *Process:
		return v.Functions, false
	case notBuilt:
		return nil, false
	}
	return host.Describe(d.Host.Functions), true
}

// RunSchedule runs scheduled work in the current version.
func (d *Dev) RunSchedule(ctx context.Context, name string) error {
	v := d.acquire()
	defer v.end()
	return v.RunSchedule(ctx, name)
}

// RunJob runs a job in the current version.
func (d *Dev) RunJob(ctx context.Context, name, job string, args []byte) error {
	v := d.acquire()
	defer v.end()
	return v.RunJob(ctx, name, job, args)
}

// ServeHTTP sends the call to the current version. If that lacks the function and the code does not
// compile, the function is probably new, and the reply is the compiler error.
func (d *Dev) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); name == "_internal" {
		d.Host.ServeHTTP(w, r)
		return
	}
	d.mu.RLock()
	problem := d.problem
	d.mu.RUnlock()
	v := d.acquire()
	defer v.end()
	if problem != "" && !d.Public {
		w.Header().Set(ProblemHeader, Problem(problem))
		w = &bootErrors{ResponseWriter: w, problem: problem}
	}
	if p, ok := v.(*Process); ok {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		d.Host.WatchCall(w, r, name, p.Answers(name), p, d.Log)
		return
	}
	v.ServeHTTP(w, r)
}

// MaxBody returns the largest body that the function of a path accepts, in bytes; 0 for an unknown
// function.
func (d *Dev) MaxBody(path string) int64 {
	v := d.acquire()
	defer v.end()
	return v.MaxBody(path)
}

// ProblemHeader is the header with the compiler error that replies have while the source does not
// compile. The site's development server shows it in the page.
const ProblemHeader = "X-Functions-Problem"

// maxProblem is the largest part of an error in ProblemHeader, in bytes.
const maxProblem = 2000

// Problem returns the value of ProblemHeader for an error: its beginning, percent-encoded.
func Problem(text string) string {
	return url.PathEscape(strings.ToValidUTF8(text[:min(len(text), maxProblem)], ""))
}

// acquire returns the current version and keeps it alive until end.
func (d *Dev) acquire() server {
	d.mu.RLock()
	defer d.mu.RUnlock()
	d.current.begin()
	return d.current
}

// swap makes v the current version and lets the old one finish its calls.
func (d *Dev) swap(v server) {
	d.mu.Lock()
	old := d.current
	d.current, d.problem = v, ""
	if _, none := old.(notBuilt); none {
		close(d.served)
	}
	d.mu.Unlock()
	d.done.Go(func() { old.Retire(d.life) })
}

// Reconfigure sends the result of Child to the current version.
func (d *Dev) Reconfigure() {
	d.configuring.Lock()
	defer d.configuring.Unlock()
	v := d.acquire()
	defer v.end()
	config, err := d.Child()
	if err == nil {
		err = v.Configure(config)
	}
	if err != nil && d.life.Err() == nil {
		d.Log.Error("cannot reconfigure the functions process", "error", err)
	}
}

// settle is the time without changes before a build, because editors write several files.
const settle = 30 * time.Millisecond

// watchFunctions watches the functions of a project.
func watchFunctions(root string) (*fsnotify.Watcher, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch functions: %w", err)
	}
	if err := watchTree(watcher, filepath.Join(root, "functions")); err != nil {
		return nil, errors.Join(fmt.Errorf("watch functions: %w", err), watcher.Close())
	}
	return watcher, nil
}

// watch builds after every change, and when quiet receives, until ctx ends.
func (d *Dev) watch(ctx context.Context, watcher *fsnotify.Watcher, quiet <-chan time.Time) {
	for n := 1; ; {
		select {
		case <-ctx.Done():
			return
		case err := <-watcher.Errors:
			d.Log.Error("cannot watch functions", "error", err)
		case e := <-watcher.Events:
			if info, err := os.Stat(e.Name); err == nil && info.IsDir() {
				if err := watchTree(watcher, e.Name); err != nil {
					d.Log.Error("cannot watch functions", "error", err)
				}
			}
			if matters(e) {
				quiet = time.After(settle)
			}
		case <-quiet:
			d.rebuild(ctx, n)
			n++
		}
	}
}

// stale reports whether a file of the functions is newer than this program.
func (d *Dev) stale() bool {
	program, err := os.Executable()
	if err != nil {
		return false
	}
	built, err := os.Stat(program)
	if err != nil {
		return false
	}
	newer := false
	_ = filepath.WalkDir(filepath.Join(d.Root, "functions"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // the build reports files that cannot be read
		}
		info, err := e.Info()
		newer = newer || err == nil && info.ModTime().After(built.ModTime())
		return nil
	})
	return newer
}

// matters reports whether an event needs a build. Temporary files of editors and tests do not.
func matters(e fsnotify.Event) bool {
	name := filepath.Base(e.Name)
	hidden := strings.HasPrefix(name, ".") && name != ".env"
	return !e.Has(fsnotify.Chmod) && !hidden && !strings.HasSuffix(name, "~") && !strings.HasSuffix(name, "_test.go")
}

// watchTree watches a folder and all folders below it.
func watchTree(w *fsnotify.Watcher, root string) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return w.Add(path)
	})
}

// build compiles the functions. Its error is the output of the compiler.
func (d *Dev) build(ctx context.Context, name string) (program string, err error) {
	program = filepath.Join(d.dir.Path, "functions-"+name)
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-overlay",
		filepath.Join(d.dir.Path, "overlay.json"), "-ldflags=-s -w", "-o", program, "./functions/"+childFolder)
	build.Dir = d.Root
	// Without C there is no external linker, and compiler and linker end before their garbage is
	// worth a collection: together a third of the time of an edit.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOGC=off", "GOMEMLIMIT=1GiB")
	build.Cancel = func() error { return build.Process.Signal(os.Interrupt) } // then go removes its files
	build.WaitDelay = 5 * time.Second
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.New(strings.TrimSpace(string(bytes.TrimSpace(out)) + "\n" + err.Error()))
	}
	return program, nil
}

// rebuild builds the nth version and makes it the current one, or logs the error.
func (d *Dev) rebuild(ctx context.Context, n int) {
	start := time.Now()
	name := strconv.Itoa(n)
	program, err := d.build(ctx, name)
	if err != nil {
		err = fmt.Errorf("%w:\n%w", errCompile, err)
	} else {
		err = d.serve(ctx, program, name)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		d.fail(err)
		return
	}
	d.Log.Info("functions reloaded", "duration", time.Since(start))
}

// serve starts a built program and makes it the current version.
func (d *Dev) serve(ctx context.Context, program, name string) error {
	config, err := d.Child()
	if err != nil {
		return err
	}
	v, err := Start(ctx, StartOptions{Program: program, Socket: filepath.Join(d.dir.Path, "socket-"+name),
		Config: config, Log: d.Log})
	if err != nil {
		return fmt.Errorf("functions do not start: %w", err)
	}
	d.swap(v)
	d.Reconfigure() // the configuration may have changed during the start
	if d.Changed != nil {
		if err := d.Changed(ctx); err != nil {
			d.Log.Error("cannot change the schedules", "error", err)
		}
	}
	return nil
}

// fail logs why there is no new version, and keeps it for the replies.
func (d *Dev) fail(err error) {
	d.mu.Lock()
	d.problem = err.Error()
	_, none := d.current.(notBuilt)
	d.mu.Unlock()
	if none {
		d.Log.Error("calls of functions get 503: " + err.Error())
		return
	}
	d.Log.Error("the last version of the functions continues: " + err.Error())
}

// builtIn is the version in this program.
type builtIn struct{ *host.Host }

func (builtIn) Configure(host.ChildConfig) error { return nil } // it reads the configuration of the program
func (builtIn) begin()                           {}
func (builtIn) end()                             {}
func (builtIn) Retire(context.Context)           {} // the program closes the host

// bootErrors replaces the 404 of an unknown function by a 503 with the compiler error.
type bootErrors struct {
	http.ResponseWriter
	problem  string
	replaced bool
}

func (b *bootErrors) WriteHeader(status int) {
	if status == http.StatusNotFound && b.Header().Get("Sb-Error-Code") == "NOT_FOUND" {
		b.replaced = true
		b.Header().Del("Content-Length")
		host.Fail(b.ResponseWriter, http.StatusServiceUnavailable, "BOOT_ERROR", b.problem)
		return
	}
	b.ResponseWriter.WriteHeader(status)
}

func (b *bootErrors) Write(p []byte) (int, error) {
	if b.replaced {
		return len(p), nil
	}
	return b.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController flush and hijack.
func (b *bootErrors) Unwrap() http.ResponseWriter { return b.ResponseWriter }
