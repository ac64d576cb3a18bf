package fnhost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"daawo/supabase/internal/fnhost/scaffold"

	"github.com/fsnotify/fsnotify"
)

// DevOptions say what a Dev needs.
type DevOptions struct {
	Root   string                      // the folder of go.mod
	Host   *Host                       // serves until the first change: the functions as they were built into this program
	Child  func() (ChildConfig, error) // what a child is told at present; after a change call Reconfigure
	Public bool                        // other machines can call: compile errors are shown in the terminal only
	Log    *slog.Logger
}

// Dev serves functions while they are being written. When a file below functions/ changes it builds them anew, starts the
// result as a child process on a unix socket and sends new calls there; calls under way end where they began. While the
// code does not compile the last version that did goes on.
type Dev struct {
	DevOptions
	dir    string // for binaries and sockets; private
	life   context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup

	telling sync.Mutex // one Reconfigure at a time: what is told last is the newest

	mu      sync.RWMutex
	current server
	problem string // what the compiler says, "" when it is content
}

// server is a version of the functions: the program's own, or a child process.
type server interface {
	http.Handler
	RunSchedule(ctx context.Context, name string) error
	RunJob(ctx context.Context, name, job string, args []byte) error
	configure(ChildConfig) error // tells it what has changed
	begin()                      // a call is under way
	end()                        // it is over
	retire(ctx context.Context)  // ends the version when its calls are over
}

// NewDev begins to watch. Close ends it, not the Host.
func NewDev(o DevOptions) (*Dev, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch functions: %w", err)
	}
	if err := watchTree(watcher, filepath.Join(o.Root, "functions")); err != nil {
		return nil, errors.Join(fmt.Errorf("watch functions: %w", err), watcher.Close())
	}
	dir, err := os.MkdirTemp("", "daawo-dev-") // mode 0700
	if err != nil {
		return nil, errors.Join(err, watcher.Close())
	}
	if err := writeOverlay(dir, o.Root); err != nil {
		return nil, errors.Join(err, watcher.Close(), os.RemoveAll(dir))
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &Dev{DevOptions: o, dir: dir, life: ctx, cancel: cancel, current: builtIn{o.Host}}
	d.done.Go(func() {
		defer watcher.Close()
		d.watch(ctx, watcher)
	})
	return d, nil
}

// Close stops watching and the child.
func (d *Dev) Close(ctx context.Context) error {
	d.cancel()
	d.done.Wait()
	d.current.retire(ctx)
	return os.RemoveAll(d.dir)
}

// Schedules are those of the functions as the program started with them; a new schedule takes a restart.
func (d *Dev) Schedules() map[string]string { return d.Host.Schedules() }

// RunSchedule runs scheduled work in the present version.
func (d *Dev) RunSchedule(ctx context.Context, name string) error {
	v := d.take()
	defer v.end()
	return v.RunSchedule(ctx, name)
}

// RunJob runs a job in the present version.
func (d *Dev) RunJob(ctx context.Context, name, job string, args []byte) error {
	v := d.take()
	defer v.end()
	return v.RunJob(ctx, name, job, args)
}

// ServeHTTP sends the call to the present version. A function that it lacks while the code does not compile is most
// likely the one being written: the reply is then what the compiler says.
func (d *Dev) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); name == "_internal" {
		d.Host.internal(w, r)
		return
	}
	d.mu.RLock()
	problem := d.problem
	d.mu.RUnlock()
	v := d.take()
	defer v.end()
	if problem != "" && !d.Public {
		w = &bootErrors{ResponseWriter: w, problem: problem}
	}
	v.ServeHTTP(w, r)
}

// take gives the present version and keeps it alive until end.
func (d *Dev) take() server {
	d.mu.RLock()
	defer d.mu.RUnlock()
	d.current.begin()
	return d.current
}

// swap makes v the present version and lets the old one finish its calls.
func (d *Dev) swap(v server) {
	d.mu.Lock()
	old := d.current
	d.current, d.problem = v, ""
	d.mu.Unlock()
	d.done.Go(func() { old.retire(d.life) })
}

// Reconfigure tells the present version what Child says now.
func (d *Dev) Reconfigure() {
	d.telling.Lock()
	defer d.telling.Unlock()
	v := d.take()
	defer v.end()
	config, err := d.Child()
	if err == nil {
		err = v.configure(config)
	}
	if err != nil && d.life.Err() == nil {
		d.Log.Error("the functions' process was not told of a change", "error", err)
	}
}

// settle is how long files must be quiet before a build: an editor writes several.
const settle = 60 * time.Millisecond

// watch builds after every change until ctx ends.
func (d *Dev) watch(ctx context.Context, watcher *fsnotify.Watcher) {
	quiet := time.NewTimer(settle)
	if !d.stale() {
		quiet.Stop()
		_, _ = d.build(ctx, "first") // fills the compiler's cache, so that the first edit is as quick as the next
	}
	for n := 1; ; {
		select {
		case <-ctx.Done():
			return
		case err := <-watcher.Errors:
			d.Log.Error("watching functions", "error", err)
		case e := <-watcher.Events:
			if info, err := os.Stat(e.Name); err == nil && info.IsDir() {
				if err := watchTree(watcher, e.Name); err != nil {
					d.Log.Error("watching functions", "error", err)
				}
			}
			if matters(e) {
				quiet.Reset(settle)
			}
		case <-quiet.C:
			d.rebuild(ctx, n)
			n++
		}
	}
}

// stale says whether a file of the functions is newer than this program.
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
			return nil // what cannot be read cannot be built either, and the build will say so
		}
		info, err := e.Info()
		newer = newer || err == nil && info.ModTime().After(built.ModTime())
		return nil
	})
	return newer
}

// matters leaves out what editors and tests leave behind.
func matters(e fsnotify.Event) bool {
	name := filepath.Base(e.Name)
	hidden := strings.HasPrefix(name, ".") && name != ".env"
	return !e.Has(fsnotify.Chmod) && !hidden && !strings.HasSuffix(name, "~") && !strings.HasSuffix(name, "_test.go")
}

// watchTree watches a folder and all below it.
func watchTree(w *fsnotify.Watcher, root string) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return w.Add(path)
	})
}

// childSource is the program that Dev builds. It lies in the functions' module only as an overlay of the compiler.
const childSource = `package main

import (
	functions %q
	"daawo/supabase/stack/child"
)

func main() { child.Main(functions.All) }
`

// childFolder is where the overlay puts it, below functions/.
const childFolder = "devchild"

// writeOverlay writes the child's source and the file that tells the compiler of it.
func writeOverlay(dir, root string) error {
	module, err := scaffold.Module(root)
	if err != nil {
		return err
	}
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, fmt.Appendf(nil, childSource, module+"/functions"), 0o600); err != nil {
		return err
	}
	place := filepath.Join(root, "functions", childFolder, "main.go")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{place: source}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600)
}

// build compiles the functions. Its error is the compiler's output.
func (d *Dev) build(ctx context.Context, name string) (program string, err error) {
	program = filepath.Join(d.dir, "functions-"+name)
	build := exec.CommandContext(ctx, "go", "build", "-overlay", filepath.Join(d.dir, "overlay.json"), "-ldflags=-s -w", "-o", program,
		"./functions/"+childFolder)
	build.Dir = d.Root
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.New(strings.TrimSpace(string(bytes.TrimSpace(out)) + "\n" + err.Error()))
	}
	return program, nil
}

// rebuild makes the nth version and swaps it in, or says why not.
func (d *Dev) rebuild(ctx context.Context, n int) {
	start := time.Now()
	program, err := d.build(ctx, strconv.Itoa(n))
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		d.Log.Error("the functions do not compile; the last version goes on\n" + err.Error())
		d.mu.Lock()
		d.problem = err.Error()
		d.mu.Unlock()
		return
	}
	var v *process
	config, err := d.Child()
	if err == nil {
		v, err = startChild(ctx, program, filepath.Join(d.dir, fmt.Sprintf("socket-%d", n)), config, d.Log)
	}
	if err != nil {
		d.Log.Error("the functions do not start; the last version goes on", "error", err)
		d.mu.Lock()
		d.problem = err.Error()
		d.mu.Unlock()
		return
	}
	d.swap(v)
	d.Reconfigure() // of what changed while it started
	d.Log.Info("functions reloaded", "took", time.Since(start).Round(time.Millisecond))
}

// builtIn is the version inside of this program.
type builtIn struct{ *Host }

func (builtIn) configure(ChildConfig) error { return nil } // it asks app itself
func (builtIn) begin()                      {}
func (builtIn) end()                        {}
func (builtIn) retire(context.Context)      {} // app closes the host

// bootErrors turns the 404 of an unknown function into 503 with what the compiler says.
type bootErrors struct {
	http.ResponseWriter
	problem  string
	replaced bool
}

func (b *bootErrors) WriteHeader(status int) {
	if status == http.StatusNotFound && b.Header().Get("Sb-Error-Code") == "NOT_FOUND" {
		b.replaced = true
		b.Header().Del("Content-Length")
		fail(b.ResponseWriter, http.StatusServiceUnavailable, "BOOT_ERROR", b.problem)
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

// Unwrap lets streams flush and WebSockets take the connection.
func (b *bootErrors) Unwrap() http.ResponseWriter { return b.ResponseWriter }
