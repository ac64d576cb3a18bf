// Package edgeruntime runs functions in TypeScript with Supabase's own Edge Runtime, which `daawo
// edge-runtime add` has added to the project: one process for all functions, which starts at the
// first call and ends when it is idle.
package edgeruntime

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/deno"
	"daawo/supabase/internal/parts"
	"daawo/supabase/internal/parts/program"
)

// Part is the Edge Runtime in the version that this program was written for.
var Part = parts.Part{Name: "edge-runtime", Version: "v1.74.3", Program: "bin/edge-runtime"}

// Advice says how to get the runtime.
const Advice = "edge_runtime.distribution is supabase, and its Edge Runtime is not on this machine: " +
	"`daawo edge-runtime add` gets it"

//go:embed main.js
var mainService string

// Options configure a Runtime.
type Options struct {
	// Find returns the folder of the runtime's files; ok is false if it is not added.
	Find   func() (folder string, ok bool, err error)
	Dir    string                            // folder in the data folder for the main service and the cache
	Vars   func() (map[string]string, error) // returns variables and secrets of functions
	Getenv func(string) (string, bool)       // of this program

	Project string // project_id, for DENO_DEPLOYMENT_ID
	Region  string
	Public  bool // other machines can call: errors of a start appear in the log only
	Limits  deno.Limits
	Log     *slog.Logger
}

// Runtime is a deno.Runner.
type Runtime struct {
	o       Options
	program *program.Program
	// of the main service: other programs of this machine cannot call functions past the checks
	key string
}

// New returns a runtime that is not started.
func New(o Options) *Runtime {
	o.Limits = o.Limits.WithDefaults()
	r := &Runtime{o: o, key: rand.Text()}
	r.program = program.New(program.Options{
		Name: "Edge Runtime", Command: r.command, Handler: r.proxy, Ready: "/_internal/health", Idle: o.Limits.Idle,
		Output: func() (io.WriteCloser, error) { return logged(o.Log), nil }, Hint: "the log",
		Memory: int64(o.Limits.Processes) * o.Limits.Memory, MemoryLimit: "DENO_PROCESSES functions may use",
		Log: o.Log,
	})
	return r
}

// Restart lets the next calls run in a new process.
func (r *Runtime) Restart() { r.program.Restart() }

// Memory returns the resident bytes of the process.
func (r *Runtime) Memory() int64 { return r.program.Memory() }

// Close ends the process.
func (r *Runtime) Close() { r.program.Close() }

// Find returns the path of the program, or an error that says how to get it.
func (r *Runtime) Find(context.Context) (string, error) {
	folder, ok, err := r.o.Find()
	if err == nil && !ok {
		err = deno.MissingError(Advice)
	}
	return filepath.Join(folder, filepath.FromSlash(Part.Program)), err
}

// command returns the runtime on a port.
func (r *Runtime) command(ctx context.Context, port int) (*exec.Cmd, error) {
	path, err := r.Find(ctx)
	if err != nil {
		return nil, err
	}
	service := filepath.Join(r.o.Dir, "main")
	home := filepath.Join(r.o.Dir, "home")
	if err := errors.Join(os.MkdirAll(service, 0o700), os.MkdirAll(home, 0o700)); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(service, "index.ts"), []byte(mainService), 0o600); err != nil {
		return nil, err
	}
	env, err := r.environment(home)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "start", "--main-service="+service, "--ip=127.0.0.1", "--port="+strconv.Itoa(port),
		"--policy=per_worker")
	cmd.Dir, cmd.Env = home, env
	return cmd, nil
}

// environment returns the variables of the process. Nothing of this process's environment is passed
// on but what fetches modules.
func (r *Runtime) environment(home string) ([]string, error) {
	vars, err := r.o.Vars()
	if err != nil {
		return nil, err
	}
	vars["SB_REGION"] = r.o.Region
	variables, err := json.Marshal(vars)
	if err != nil {
		return nil, err
	}
	limits, err := json.Marshal(map[string]any{
		"deployment": r.o.Project + "_NAME_1", "memory": r.o.Limits.Heap >> 20, "cpu": r.o.Limits.CPU.Milliseconds(),
		"wall": r.o.Limits.Wall.Milliseconds(),
	})
	env := []string{
		"PATH=/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + os.TempDir(), "TZ=UTC", "NO_COLOR=1",
		"DENO_DIR=" + filepath.Join(r.o.Dir, "cache"), "DENO_NO_UPDATE_CHECK=1", "DAAWO_RUNTIME_KEY=" + r.key,
		"DAAWO_RUNTIME_VARIABLES=" + string(variables), "DAAWO_RUNTIME_LIMITS=" + string(limits),
	}
	return append(env, deno.Passed(r.o.Getenv)...), err
}

// description is a function as the main service gets it.
type description struct {
	Name        string   `json:"name"`
	Folder      string   `json:"folder"`
	Entrypoint  string   `json:"entrypoint"` // file: URL
	ImportMap   string   `json:"importMap"`
	StaticFiles []string `json:"staticFiles"`
	PackageJSON bool     `json:"packageJSON"` // its folder has one, which names its packages of npm
	Explain     bool     `json:"explain"`     // the reply says why it does not start
}

// Serve lets a function answer a call. A call that did not reach its process, because that has just
// ended, is repeated once.
func (r *Runtime) Serve(w http.ResponseWriter, in *http.Request, f deno.Function) error {
	described, err := r.describe(f)
	if err != nil {
		return err
	}
	body := child.BodyOf(in)
	for attempt := 1; ; attempt++ {
		run, err := r.program.Acquire()
		if err != nil {
			return notStarted(err)
		}
		err = r.forward(w, in, body, run, described)
		r.program.Release(run)
		if attempt > 1 || !body.Unread() || !errors.Is(err, syscall.ECONNREFUSED) || !run.Ended() {
			return err
		}
	}
}

// forward lets a process answer a call.
func (r *Runtime) forward(w http.ResponseWriter, in *http.Request, body *child.Body, run *program.Run,
	described string) error {
	select {
	case <-run.Started:
	case <-in.Context().Done():
		return in.Context().Err()
	}
	if run.Handler == nil {
		return notStarted(run.Failure)
	}
	ctx, failure := child.WithFailure(in.Context())
	out := in.Clone(ctx)
	body.Give(out)
	out.Header.Set("X-Daawo-Runtime-Key", r.key)
	out.Header.Set("X-Daawo-Function", described)
	run.Handler.ServeHTTP(w, out)
	return *failure
}

// describe returns a function as the header for the main service has it.
func (r *Runtime) describe(f deno.Function) (string, error) {
	folder := filepath.Dir(f.Entrypoint)
	_, statErr := os.Stat(filepath.Join(folder, "package.json"))
	text, err := json.Marshal(description{
		Name: f.Name, Folder: folder,
		Entrypoint: (&url.URL{Scheme: "file", Path: filepath.ToSlash(f.Entrypoint)}).String(), ImportMap: f.ImportMap,
		StaticFiles: f.Static, PackageJSON: statErr == nil && f.ImportMap == "",
		Explain: !r.o.Public,
	})
	return url.PathEscape(string(text)), err
}

// notStarted returns the error of a call without a process.
func notStarted(err error) error {
	var missing deno.MissingError
	if errors.As(err, &missing) || errors.Is(err, program.ErrClosed) {
		return err
	}
	return &deno.BootError{Cause: err}
}

// proxy returns a handler that forwards calls to the runtime at an address.
func (r *Runtime) proxy(address string) http.Handler {
	// a connection of its own for each call tells whether the call has reached the process
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	return &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: address})
			p.Out.Host = p.In.Host
			for name, values := range p.In.Header { // those of the gateway about the client
				if strings.HasPrefix(name, "X-Forwarded-") {
					p.Out.Header[name] = values
				}
			}
		},
		ErrorHandler: child.Failed,
	}
}

// logged returns a writer that logs each line.
func logged(log *slog.Logger) io.WriteCloser {
	read, write := io.Pipe()
	go func() {
		child.EachLine(read, deno.MaxLine, func(line []byte) { log.Info(string(line)) })
	}()
	return write
}
