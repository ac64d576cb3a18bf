package deno

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/host"
)

// Options configure a Service.
type Options struct {
	Root     string                     // folder of config.toml, with functions/; "" for none
	Settings map[string]config.Function // its sections [functions.NAME]
	Cache    string                     // folder of Deno's cache for the functions of Root
	Versions string                     // folder of the unpacked bundles
	Private  []string                   // folders that no function may read, also if they are in the project
	Watch    bool                       // a call runs the files as they are now
	Public   bool                       // other machines can call: errors of a start appear in the log only
	Project  string                     // project_id, for DENO_DEPLOYMENT_ID
	Region   string                     // for SB_REGION
	Limits   Limits

	// runs the functions in place of a process of Deno for each; nil for Deno
	Runner Runner
	Deno   func(context.Context) (string, error) // returns the path of Deno, see Finder
	Vars   func() (map[string]string, error)     // returns variables and secrets of functions
	Hide   func(http.Header)                     // takes from a call what no function may learn; nil for nothing
	Getenv func(string) (string, bool)           // of this program
	// returns an error if a function of this name exists in Go
	Taken func(name string) error
	Log   *slog.Logger
}

// Runner is another runtime for functions in TypeScript.
type Runner interface {
	// Serve lets a function answer a call. Its error means that there was no reply.
	Serve(w http.ResponseWriter, r *http.Request, f Function) error
	Restart()      // lets the next calls run in a new process, because files or variables have changed
	Memory() int64 // resident bytes of its processes
	Close()
}

// set is one version of all functions.
type set struct {
	root      string
	files     string // folder with all that the functions import; "" for the project around root
	cache     string
	version   string // part of DENO_DEPLOYMENT_ID
	offline   bool   // the cache has all modules
	watch     bool   // the files change
	functions map[string]Function
	registry  map[string]string // variables with the registries of the modules in an offline cache
	problem   error             // why the functions do not start; nil for no reason
}

// language names our functions' language in host.FunctionInfo.
const language = "TypeScript"

// list describes the functions of the set.
func (s *set) list() []host.FunctionInfo {
	functions := map[string]edge.Func{}
	for name, f := range s.functions {
		functions[name] = edge.Func{NoVerifyJWT: f.NoVerifyJWT, MaxBody: MaxBody, Handler: notCalled}
	}
	list := host.Describe(functions)
	for i := range list {
		list[i].Language = language
	}
	return list
}

// notCalled is the handler in a description.
func notCalled(http.ResponseWriter, *http.Request, *edge.Env) error { return nil }

// lookup returns a variable for Deno itself.
func (s *set) lookup(getenv func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if s.offline && slices.Contains(registryVariables, name) {
			v, ok := s.registry[name]
			return v, ok
		}
		return getenv(name)
	}
}

// Service serves functions in TypeScript from a project's folder or a deployed archive.
type Service struct {
	Options
	Host *host.Host // checks, limits and counts the calls
	pool *pool
	seen states // of functions that another runtime runs

	mu   sync.RWMutex
	set  *set      // in use
	base *set      // that of Root
	read time.Time // when the folder was read
}

// New returns a service. o.Functions of the host's options are ignored. Close ends it.
func New(o Options, h host.Options) (*Service, error) {
	o.Limits = o.Limits.WithDefaults()
	s := &Service{Options: o, pool: newPool(o)}
	var err error
	if s.base, err = s.folder(); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(s.base.functions)) {
		if err := s.base.functions[name].check(); err != nil {
			s.Log.Warn("a function cannot start", "function", name, "error", err)
		}
	}
	h.Functions = nil
	if s.Host, err = host.New(h); err != nil {
		return nil, err
	}
	if err := s.use(s.base); err != nil {
		return nil, errors.Join(err, s.Host.Close(context.Background()))
	}
	return s, nil
}

// Close ends the processes after their calls, or when ctx ends.
func (s *Service) Close(ctx context.Context) error {
	err := s.Host.Close(ctx)
	if s.Runner != nil {
		s.Runner.Close()
	}
	return errors.Join(err, s.pool.close(ctx))
}

// folder returns the functions of Root.
func (s *Service) folder() (*set, error) {
	set := &set{root: s.Root, cache: s.Cache, version: "1", watch: s.Watch, functions: map[string]Function{}}
	if s.Root == "" {
		return set, nil
	}
	list, err := ReadFunctions(s.Root, s.Settings)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if err := s.Taken(f.Name); err != nil {
			return nil, err
		}
		set.functions[f.Name] = f
	}
	return set, nil
}

// use makes a set the current one. Calls in flight end in the old one.
func (s *Service) use(next *set) error {
	functions := map[string]edge.Func{}
	for name, f := range next.functions {
		functions[name] = s.function(next, f)
	}
	if err := s.Host.Replace(functions); err != nil {
		return err
	}
	s.mu.Lock()
	old := s.set
	s.set, s.read = next, time.Now()
	s.mu.Unlock()
	if old != nil {
		s.drop(old)
	}
	return nil
}

// drop lets the next calls run in new processes. old is the set whose processes end, nil for all.
func (s *Service) drop(old *set) {
	if s.Runner != nil {
		s.Runner.Restart()
	}
	s.pool.drop(old)
}

// MaxBody is the largest body of a call, in bytes. It is streamed to the function.
const MaxBody = 50 << 20

// function returns the function for the host.
func (s *Service) function(set *set, f Function) edge.Func {
	key := processKey{set, f.Name}
	call := func(w http.ResponseWriter, r *http.Request) error { return s.call(w, r, key, f) }
	if s.Runner != nil {
		call = func(w http.ResponseWriter, r *http.Request) error { return s.callRunner(w, r, set, f) }
	}
	return edge.Func{
		NoVerifyJWT: f.NoVerifyJWT, MaxBody: MaxBody,
		Handler: func(w http.ResponseWriter, r *http.Request, _ *edge.Env) error { return call(w, r) },
	}
}

// Has reports whether this service has the function. In a folder that is watched it may be new.
func (s *Service) Has(name string) bool {
	s.refresh()
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.set.functions[name]
	return ok
}

// Names returns the names of the functions.
func (s *Service) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.set.functions))
}

// List describes the functions.
func (s *Service) List() []host.FunctionInfo {
	s.refresh()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.set.list()
}

// Memory returns the resident bytes of all processes.
func (s *Service) Memory() int64 {
	if s.Runner != nil {
		return s.Runner.Memory()
	}
	return s.pool.memory()
}

// Restart lets the next calls run in new processes, because variables have changed.
func (s *Service) Restart() { s.drop(nil) }

// refresh reads a watched folder again, for functions that were added or removed.
func (s *Service) refresh() {
	s.mu.RLock()
	watch, old, recent := s.set.watch, s.set, time.Since(s.read) < 100*time.Millisecond
	s.mu.RUnlock()
	if !watch || recent {
		return
	}
	next, err := s.folder()
	s.mu.Lock()
	s.read = time.Now()
	s.mu.Unlock()
	if err != nil {
		s.Log.Error("functions in TypeScript are not read again", "error", err)
		return
	}
	if !maps.EqualFunc(old.functions, next.functions, sameFunction) {
		if err := s.use(next); err != nil {
			s.Log.Error("functions in TypeScript are not read again", "error", err)
		}
	}
}

func sameFunction(a, b Function) bool {
	return a.Entrypoint == b.Entrypoint && a.ImportMap == b.ImportMap && a.NoVerifyJWT == b.NoVerifyJWT &&
		slices.Equal(a.Static, b.Static)
}

// Next serves the functions of this service, and lets next serve all others.
func (s *Service) Next(next http.Handler) http.Handler { return &beside{s, next} }

// beside serves functions in two languages.
type beside struct {
	service *Service
	next    http.Handler
}

// ServeHTTP routes a call by its name.
func (b *beside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if b.service.Has(name) {
		b.service.Host.ServeHTTP(w, r)
		return
	}
	b.next.ServeHTTP(w, r)
}

// MaxBody returns the largest body that the function of a path accepts; 0 means unknown.
func (b *beside) MaxBody(path string) int64 {
	if limit := b.service.Host.MaxBody(path); limit > 0 {
		return limit
	}
	if limiter, ok := b.next.(interface{ MaxBody(string) int64 }); ok {
		return limiter.MaxBody(path)
	}
	return 0
}

// Messages of upstream's runtime.
const (
	bootMessage  = "Worker failed to boot (please check logs)"
	limitMessage = "Worker failed to respond due to a resource limit (please check logs)"
	errorMessage = "Function exited due to an error (please check logs)"
)

// statusWorkerLimit is Supabase's status for a worker that exceeds a resource limit.
const statusWorkerLimit = 546

// call lets a process answer a call. A call that did not reach its process, because that has just
// ended, is repeated once.
func (s *Service) call(w http.ResponseWriter, r *http.Request, k processKey, f Function) error {
	body := child.BodyOf(r)
	for attempt := 1; ; attempt++ {
		p, err := s.pool.acquire(r.Context(), k, f)
		if err != nil {
			return s.notStarted(w, r, f, err)
		}
		err = s.forward(w, r, p, body)
		if err == nil || r.Context().Err() != nil {
			s.pool.release(p)
			return err
		}
		limit, ended := p.exceeded()
		s.pool.release(p)
		var tooLong *http.MaxBytesError
		switch {
		case errors.As(err, &tooLong):
			return err
		case attempt == 1 && body.Unread() && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist)):
			continue
		case limit != "" || errors.Is(err, errWall):
			p.log.WarnContext(r.Context(), "call ended with its process", "limit", cmp.Or(limit, limitWall))
			host.Fail(w, statusWorkerLimit, "WORKER_LIMIT", limitMessage)
			return nil
		}
		p.log.ErrorContext(r.Context(), "function ended before its reply", "error", err, "ended", ended)
		host.Fail(w, http.StatusInternalServerError, "WORKER_ERROR", errorMessage)
		return nil
	}
}

// errWall means that a call took longer than Limits.Wall.
var errWall = errors.New("the call exceeds the wall clock limit")

// forward sends a call to a process. It returns an error if the process did not reply.
func (s *Service) forward(w http.ResponseWriter, r *http.Request, p *process, body *child.Body) error {
	ctx, cancel := context.WithTimeoutCause(r.Context(), s.Limits.Wall, errWall)
	defer cancel()
	ctx, failure := child.WithFailure(ctx)
	out := r.Clone(ctx)
	body.Give(out)
	p.proxy.ServeHTTP(w, out)
	if context.Cause(ctx) == errWall {
		p.log.Error("call exceeds the wall clock limit and is ended", "limit", s.Limits.Wall)
		s.pool.expire(p)
		if *failure != nil {
			return errWall
		}
	}
	return *failure
}

// notStarted replies to a call for which there is no process.
func (s *Service) notStarted(w http.ResponseWriter, r *http.Request, f Function, err error) error {
	var boot *BootError
	var missing MissingError
	switch {
	case r.Context().Err() != nil:
		return err
	case errors.As(err, &boot):
		message := bootMessage
		if !s.Public {
			message = boot.Error()
			w.Header().Set(child.ProblemHeader, child.Problem(message))
		}
		host.Fail(w, http.StatusServiceUnavailable, "BOOT_ERROR", message)
	case errors.Is(err, errBusy), errors.Is(err, errClosed):
		w.Header().Set("Retry-After", "1")
		host.Fail(w, http.StatusServiceUnavailable, "OVERLOADED", "The function is busy. Please try again")
	case errors.As(err, &missing):
		s.Log.ErrorContext(r.Context(), "function not run", "function", f.Name, "reason", err)
		host.Fail(w, http.StatusNotImplemented, "NOT_IMPLEMENTED", fmt.Sprintf("function %s: %s", f.Name, missing))
	default:
		s.Log.ErrorContext(r.Context(), "function not run", "function", f.Name, "error", err)
		host.Fail(w, http.StatusServiceUnavailable, "BOOT_ERROR", bootMessage)
	}
	return nil
}

// EnvFile returns the path of the file with secrets of a project's functions.
func EnvFile(root string) string { return filepath.Join(root, "functions", ".env") }
