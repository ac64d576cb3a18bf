// Package deploy serves functions from bundles, programs that are sent to a running server, and
// switches between them without dropping a call. Each bundle runs in a process of package child.
package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"daawo/supabase/internal/base/tempdir"
	"daawo/supabase/internal/functions/deno"
	"daawo/supabase/internal/functions/host"
)

// Base is what serves the functions while no bundle is deployed: the functions of this program, or
// those of a project.
type Base interface {
	http.Handler
	MaxBody(path string) int64
	Schedules() map[string]string
	RunSchedule(ctx context.Context, name string) error
	RunJob(ctx context.Context, name, job string, args []byte) error
}

// Options configure a Deployer.
type Options struct {
	Dir   string // holds the bundles; made if it is missing
	Host  *host.Host
	Base  Base
	Built func() []host.FunctionInfo // returns the functions of Base
	// returns the present configuration of a process; call Reconfigure after a change
	Child func() (host.ChildConfig, error)
	// the number of unfinished jobs by FUNCTION/JOB; nil means none
	Waiting func(ctx context.Context) (map[string]int, error)
	// called after a switch, because schedules may differ; nil for nothing
	Changed func(ctx context.Context) error
	Memory  int64 // limit of a process in bytes; 0 means 512 MiB
	// how long calls of a replaced version may go on; 0 means 10 min
	Drain    time.Duration
	MaxBytes int64 // of a bundle; 0 means 512 MiB
	Log      *slog.Logger
	Meter    host.Meter // nil counts nothing
	// serves the functions in TypeScript of bundles; nil without such functions
	TypeScript *deno.Service
}

// Deployer serves the functions of a deployed bundle, and switches between bundles without dropping
// a call. A bundle is a program that hosts functions in Go in a process of its own, or an archive
// of functions in TypeScript, or both. A language that it lacks is served as without a bundle. It
// stays deployed over restarts of this program.
type Deployer struct {
	Options
	sockets   func() (string, error) // returns the private folder of the sockets; the first call makes it
	socketDir *tempdir.Dir           // this folder, nil until then
	store     store
	life      context.Context
	cancel    context.CancelFunc
	retiring  sync.WaitGroup
	deploying sync.Mutex // one deployment at a time

	configuring sync.Mutex // one Reconfigure at a time, so that the last one sends the newest configuration
	mu          sync.RWMutex
	current     current
}

// current is a version of the functions.
type current struct {
	Version
	server
	scripts *deno.Version // nil if the bundle has no functions in TypeScript
}

// builtIn returns the version that needs no bundle.
func builtIn(o Options) current {
	return current{Version{ID: BuiltIn, Functions: o.Built()}, base{o.Base}, nil}
}

// server serves the functions in Go of a version: Base or a bundle in a child process.
type server interface {
	Base
	configure(host.ChildConfig) error // sends a changed configuration
	begin()                           // a call begins
	end()                             // a call ends
	retire(ctx context.Context)       // ends the version after its calls
}

// base is the server of a version without functions in Go.
type base struct{ Base }

func (base) configure(host.ChildConfig) error { return nil } // app configures it
func (base) begin()                           {}
func (base) end()                             {}
func (base) retire(context.Context)           {}

// New returns a Deployer that serves the bundle that was deployed last, or Base. If that
// bundle does not start, it is tried again and again, and the functions answer 503 until it does.
// Close ends the process.
func New(ctx context.Context, o Options) (*Deployer, error) {
	if o.Memory == 0 {
		o.Memory = 512 << 20
	}
	if o.Drain == 0 {
		o.Drain = 10 * time.Minute
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 512 << 20
	}
	d := &Deployer{Options: o}
	d.current = builtIn(d.Options)
	if err := d.store.load(o.Dir); err != nil {
		return nil, fmt.Errorf("deployed functions: %w", err)
	}
	d.sockets = sync.OnceValues(func() (string, error) {
		dir, err := tempdir.New("", "functions")
		if err != nil {
			return "", err
		}
		d.socketDir = dir
		return dir.Path, nil
	})
	d.life, d.cancel = context.WithCancel(context.Background())
	if o.Meter != nil {
		o.Meter.Deployed(d.MemoryUse)
	}
	if v, ok := d.store.find(d.store.Current); ok {
		resume(ctx, d, v)
	}
	return d, sweep(d.TypeScript, d.store.list())
}

// resume serves the version that was deployed last.
func resume(ctx context.Context, d *Deployer, v Version) {
	scripts, err := openScripts(d.TypeScript, d.store.file(v.ID), v)
	if err == nil && scripts != nil {
		err = d.TypeScript.Use(scripts)
	}
	if err != nil {
		d.Log.Error("deployed functions in TypeScript do not start", "version", v.ID, "error", err)
		if err := d.TypeScript.Unusable(v.ID, v.Functions, err); err != nil {
			d.Log.Error("deployed functions in TypeScript are not served", "version", v.ID, "error", err)
		}
	}
	d.current = current{v, base{d.Base}, scripts}
	if !d.store.hasProgram(v.ID) {
		return
	}
	b := d.prepare(v)
	if err := b.start(ctx); err != nil {
		d.Log.Error("deployed functions do not start; trying again", "version", v.ID, "error", err)
	}
	go b.watch()
	d.current.server = b
}

// Close ends the process of the functions after its calls, or when ctx ends.
func (d *Deployer) Close(ctx context.Context) error {
	d.cancel()
	d.retiring.Wait()
	d.peek().retire(ctx)
	d.deploying.Lock()
	defer d.deploying.Unlock()
	return d.socketDir.Remove()
}

// peek returns the current version without keeping it alive.
func (d *Deployer) peek() current {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.current
}

// acquire returns the current version and keeps it alive until end.
func (d *Deployer) acquire() server {
	d.mu.RLock()
	defer d.mu.RUnlock()
	d.current.begin()
	return d.current.server
}

// ServeHTTP sends a call to the current version.
func (d *Deployer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); name {
	case "_internal":
		d.Host.ServeHTTP(w, r)
		return
	case deployPath:
		d.remote(w, r)
		return
	}
	v := d.acquire()
	defer v.end()
	v.ServeHTTP(w, r)
}

// MaxBody returns the largest body that the function of a path accepts, in bytes; 0 for an unknown
// function.
func (d *Deployer) MaxBody(path string) int64 { return d.peek().MaxBody(path) }

// Schedules returns the cron expressions of the current version.
func (d *Deployer) Schedules() map[string]string { return d.peek().Schedules() }

// RunSchedule runs scheduled work in the current version.
func (d *Deployer) RunSchedule(ctx context.Context, name string) error {
	v := d.acquire()
	defer v.end()
	return v.RunSchedule(ctx, name)
}

// RunJob runs a job in the current version.
func (d *Deployer) RunJob(ctx context.Context, name, job string, args []byte) error {
	v := d.acquire()
	defer v.end()
	return v.RunJob(ctx, name, job, args)
}

// Reconfigure sends the result of Child to the current version.
func (d *Deployer) Reconfigure() {
	d.configuring.Lock()
	defer d.configuring.Unlock()
	v := d.acquire()
	defer v.end()
	config, err := d.Child()
	if err == nil {
		err = v.configure(config)
	}
	if err != nil && d.life.Err() == nil {
		d.Log.Error("cannot reconfigure the functions process", "error", err)
	}
}

// MemoryUse returns the resident bytes of the process of the current version, 0 without one.
func (d *Deployer) MemoryUse() int64 {
	if b, ok := d.peek().server.(*deployed); ok {
		return b.memoryUse()
	}
	return 0
}

// ErrBusy means that a deployment is in progress.
var ErrBusy = errors.New("another deployment is in progress; try again when it has ended")

// Deploy stores a bundle, tries it beside the current version and switches to it. After an error
// nothing has changed.
func (d *Deployer) Deploy(ctx context.Context, bundle io.Reader, message string, force bool) (Version, error) {
	if !d.deploying.TryLock() {
		return Version{}, ErrBusy
	}
	defer d.deploying.Unlock()
	v, err := d.store.receive(bundle, d.MaxBytes)
	if err != nil {
		return Version{}, fmt.Errorf("store the bundle: %w", err)
	}
	v.Message = message
	next, err := d.try(ctx, v, force)
	if err != nil {
		return Version{}, errors.Join(err, os.Remove(d.store.file(v.ID)), sweep(d.TypeScript, d.store.list()))
	}
	if err := d.store.add(next.Version); err != nil {
		next.discard(d.TypeScript)
		return Version{}, errors.Join(err, os.Remove(d.store.file(v.ID)), sweep(d.TypeScript, d.store.list()))
	}
	err = d.swap(ctx, next)
	return next.Version, errors.Join(err, sweep(d.TypeScript, d.store.list()))
}

// BuiltIn is the name of the functions that need no bundle, for Rollback.
const BuiltIn = "built-in"

// Rollback switches to an earlier version, BuiltIn or, with "", to the one before the current.
func (d *Deployer) Rollback(ctx context.Context, id string, force bool) (Version, error) {
	if !d.deploying.TryLock() {
		return Version{}, ErrBusy
	}
	defer d.deploying.Unlock()
	if id == "" {
		if id = d.store.previous(); id == "" {
			return Version{}, errors.New("there is no earlier version")
		}
	}
	if id == d.store.Current || id == BuiltIn && d.store.Current == "" {
		return Version{}, fmt.Errorf("version %s is the current one", id)
	}
	if id == BuiltIn {
		if err := d.knowsWaiting(ctx, d.Built(), force); err != nil {
			return Version{}, err
		}
		if err := d.store.use(""); err != nil {
			return Version{}, err
		}
		next := builtIn(d.Options)
		return next.Version, d.swap(ctx, next)
	}
	v, ok := d.store.find(id)
	if !ok {
		return Version{}, fmt.Errorf("there is no version %s", id)
	}
	next, err := d.try(ctx, v, force)
	if err != nil {
		return Version{}, err
	}
	if err := d.store.use(id); err != nil {
		next.discard(d.TypeScript)
		return Version{}, err
	}
	return next.Version, d.swap(ctx, next)
}

// swap makes a version the current one and lets the old one finish its calls.
func (d *Deployer) swap(ctx context.Context, next current) error {
	if b, ok := next.server.(*deployed); ok {
		go b.watch()
	}
	d.mu.Lock()
	old := d.current
	d.current = next
	d.mu.Unlock()
	var err error
	if d.TypeScript != nil {
		err = d.TypeScript.Use(next.scripts)
	}
	d.retiring.Go(func() {
		ctx, cancel := context.WithTimeout(d.life, d.Drain)
		defer cancel()
		old.retire(ctx)
	})
	d.Reconfigure() // the configuration may have changed during the start
	if d.Changed != nil {
		if err := d.Changed(context.WithoutCancel(ctx)); err != nil {
			d.Log.Error("cannot change the schedules", "error", err)
		}
	}
	return err
}

// Functions returns the functions in Go of the current version, and its id.
func (d *Deployer) Functions() (id string, functions []host.FunctionInfo) {
	v := d.peek()
	if b, ok := v.server.(*deployed); ok {
		return v.ID, b.inGo()
	}
	return v.ID, d.Built()
}

// Deployed returns when the current version was deployed, or the zero time if no bundle is.
func (d *Deployer) Deployed() time.Time { return d.peek().Deployed }

// Version is a deployed bundle.
type Version struct {
	ID        string              `json:"id"`
	SHA256    string              `json:"sha256"`
	Size      int64               `json:"size"` // bytes
	Deployed  time.Time           `json:"deployed_at"`
	Message   string              `json:"message,omitempty"`
	Current   bool                `json:"current,omitempty"`
	Functions []host.FunctionInfo `json:"functions"`
}

// keepVersions is the number of bundles that are kept.
const keepVersions = 5

// manifestName is the file that lists the versions.
const manifestName = "versions.json"

// readManifest reads the list of versions. A missing file is an empty list.
func readManifest(dir string, into any) error {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
