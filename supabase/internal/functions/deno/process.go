package deno

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/jail"
)

// process runs one function.
type process struct {
	key   processKey
	state state // of the files at the start; nil if they do not change
	log   *slog.Logger
	lines *output
	begin sync.Once // starts it

	started  chan struct{} // closed when the program runs, or bootErr is set
	cell     *jail.Cell    // after started; nil if the program could not be started
	own      *child.Proxy  // after started: for requests of this program
	proxy    *child.Proxy  // after booted: for the calls
	booted   chan struct{} // closed when the function can be called, or bootErr is set
	bootErr  error
	startErr bool          // bootErr is not an error of the function: the program could not be started
	exited   chan struct{} // closed when the program has ended, or could not be started

	// guarded by pool.mu
	calls   int
	done    int       // calls that have ended
	last    time.Time // end of the last call
	retired bool      // gets no further calls

	mu    sync.Mutex
	limit string // the exceeded limit that ended the process, "" for none
}

// output relays what a function prints to the log and keeps the first lines for the error of a
// failed start.
type output struct {
	mu    sync.Mutex
	first bytes.Buffer
	oom   bool // the heap was full
}

// MaxLine is how many bytes of a printed line are logged, as upstream.
const MaxLine = 10_000

const maxFirst = 16 << 10 // bytes of the output that the error of a failed start contains

// relay logs each line until the end of the stream.
func (o *output) relay(log *slog.Logger, level slog.Level, stream io.Reader) {
	child.EachLine(stream, MaxLine, func(line []byte) {
		text := string(line)
		if text == "" {
			return
		}
		log.Log(context.Background(), level, text)
		o.mu.Lock()
		defer o.mu.Unlock()
		if level > slog.LevelInfo && o.first.Len() < maxFirst {
			o.first.WriteString(text + "\n")
		}
		o.oom = o.oom || level > slog.LevelInfo && strings.Contains(text, "JavaScript out of memory")
	})
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimSpace(o.first.String())
}

// launch describes the start of a process.
type launch struct {
	cell      *jail.Cell
	policy    jail.Policy
	socket    string // in the cell's folder
	hide      func(http.Header)
	bootLimit time.Duration
}

// newProcess returns a process that has not started.
func newProcess(k processKey, s state, log *slog.Logger) *process {
	return &process{key: k, state: s, log: log, lines: &output{}, last: time.Now(),
		started: make(chan struct{}), booted: make(chan struct{}), exited: make(chan struct{})}
}

// notStarted records why the program could not be started.
func (p *process) notStarted(err error) {
	p.bootErr, p.startErr = err, true
	close(p.started)
	close(p.booted)
	close(p.exited)
}

// hasStarted reports whether the program was started.
func (p *process) hasStarted() bool {
	select {
	case <-p.started:
		return p.cell != nil
	default:
		return false
	}
}

// start starts the program, which boots in the background, and closes its cell at the end. failed
// replies to calls that the program does not answer.
func (p *process) start(l launch, failed func(http.ResponseWriter, *http.Request, error)) error {
	var read sync.WaitGroup
	stdout, err := p.relayed(&read, slog.LevelInfo)
	if err != nil {
		return errors.Join(err, l.cell.Close())
	}
	stderr, err := p.relayed(&read, slog.LevelWarn)
	if err != nil {
		return errors.Join(err, stdout.Close(), l.cell.Close())
	}
	l.cell.Cmd.Stdout, l.cell.Cmd.Stderr = stdout, stderr
	l.cell.Cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = l.cell.Start(l.policy)
	_, _ = stdout.Close(), stderr.Close() // the process has them
	if err != nil {
		read.Wait()
		return errors.Join(err, l.cell.Close())
	}
	p.cell, p.own = l.cell, child.NewProxy(l.socket, l.hide, failed)
	p.proxy = p.own
	close(p.started)
	go func() {
		read.Wait()
		_ = l.cell.Cmd.Wait()
		p.killGroup()
		if l.cell.OutOfMemory() {
			p.exceed(limitMemory)
		}
		if err := l.cell.Close(); err != nil {
			p.log.Warn("files of an ended function are left", "error", err)
		}
		close(p.exited)
		p.own.Close()
		<-p.booted
		p.proxy.Close()
	}()
	if err := child.PreferForOOM(p.pid()); err != nil {
		p.log.Warn("the kernel may end another process than the function when memory is short", "error", err)
	}
	go p.boot(l, failed)
	return nil
}

// relayed returns a file whose content is logged.
func (p *process) relayed(read *sync.WaitGroup, level slog.Level) (*os.File, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	read.Go(func() {
		defer from.Close()
		p.lines.relay(p.log, level, from)
	})
	return to, nil
}

func (p *process) pid() int { return p.cell.Cmd.Process.Pid }

// nodeSocket returns the path of the socket on which a server of node:http answers calls.
func nodeSocket(socket string) string { return socket + "n" }

// boot waits until the function can be called.
func (p *process) boot(l launch, failed func(http.ResponseWriter, *http.Request, error)) {
	defer close(p.booted)
	limit := l.bootLimit
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	go func() {
		select {
		case <-p.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		status, text, err := p.ask(ctx, "boot", "")
		switch {
		case err == nil && status == http.StatusOK:
			if text == "node" {
				p.proxy = child.NewProxy(nodeSocket(l.socket), l.hide, failed)
			}
			return
		case err == nil:
			p.bootErr = errors.New(text)
			p.kill("")
			return
		}
		select {
		case <-ctx.Done():
			p.bootErr = p.notBooted(limit)
			p.kill("")
			return
		case <-time.After(3 * time.Millisecond):
		}
	}
}

// errKilled means that a process ended without a message, so that the function is not the cause.
var errKilled = errors.New("the process ended")

// notBooted returns why a process did not boot.
func (p *process) notBooted(limit time.Duration) error {
	select {
	case <-p.exited:
		if text := p.lines.text(); text != "" {
			return errors.New(text)
		}
		return errKilled
	default:
		return fmt.Errorf("the function was not ready after %v\n%s", limit, p.lines.text())
	}
}

// ask sends a request of this program to the process.
func (p *process) ask(ctx context.Context, what, body string) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://function/_internal/"+what,
		strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	res, err := p.own.Client().Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	return res.StatusCode, string(reply), err
}

// kill ends the process. limit names the limit that it has exceeded, "" for none.
func (p *process) kill(limit string) {
	p.exceed(limit)
	<-p.started
	select {
	case <-p.exited:
	default:
		p.killGroup()
	}
}

// killGroup ends what is left of the process group. Functions may start no programs, so none has
// left it.
func (p *process) killGroup() { _ = syscall.Kill(-p.pid(), syscall.SIGKILL) } // it may be empty

// exceed records the first limit that the process has exceeded.
func (p *process) exceed(limit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit == "" {
		p.limit = limit
	}
}

// exceeded returns the limit that ended the process, "" for none. It waits a moment for the end of
// a process that ended itself: a call can learn of it first.
func (p *process) exceeded() (limit string, ended bool) {
	p.mu.Lock()
	limit = p.limit
	p.mu.Unlock()
	if limit != "" {
		return limit, true // it was killed, and takes a moment to end on a busy machine
	}
	select {
	case <-p.exited:
	case <-time.After(time.Second):
		return "", false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines.mu.Lock()
	defer p.lines.mu.Unlock()
	if p.limit == "" && p.lines.oom {
		p.limit = limitMemory
	}
	return p.limit, true
}

// Limits that end a process.
const (
	limitMemory = "memory"
	limitCPU    = "processor time"
	limitWall   = "wall clock"
)

// unload tells the function that its process ends, and waits for its background tasks.
func (p *process) unload(ctx context.Context, reason string) {
	if <-p.started; p.cell == nil {
		return
	}
	_, _, _ = p.ask(ctx, "unload", reason) // the process ends in any case
	p.kill("")
	<-p.exited
}

// paths returns a list of paths as Deno reads it.
func paths(list ...string) string {
	for i, path := range list {
		list[i] = strings.ReplaceAll(path, ",", ",,")
	}
	return strings.Join(list, ",")
}

// arguments returns the flags of Deno for a function. sockets are those that it may open.
func arguments(f Function, s *set, sockets []string, bootstrap string, heap int64) []string {
	readable := slices.Concat(f.readable(s.root), []string{filepath.Join(s.cache, "npm")}, sockets)
	args := []string{
		"run", "--quiet", "--no-prompt", "--no-lock", "--no-check", "--node-modules-dir=none", "--allow-env", "--allow-net",
		"--allow-import", "--allow-sys=cpus,homedir,hostname,loadavg,osRelease,osUptime,systemMemoryInfo,uid,gid",
		"--allow-read=" + paths(readable...), "--allow-write=" + paths(slices.Clone(sockets)...),
		fmt.Sprintf("--v8-flags=--max-old-space-size=%d", heap>>20), "--preload=" + bootstrap,
	}
	if s.offline {
		args = append(args, "--cached-only")
	}
	args = append(args, f.configuration()...)
	return append(args, f.Entrypoint)
}

// configuration returns the flags of Deno for the import map of a function.
func (f Function) configuration() []string {
	switch base := filepath.Base(f.ImportMap); {
	case f.ImportMap == "":
		return []string{"--no-config"}
	case base == "deno.json" || base == "deno.jsonc":
		return []string{"--config=" + f.ImportMap}
	default:
		return []string{"--no-config", "--import-map=" + f.ImportMap}
	}
}

var passed = []string{"NPM_CONFIG_REGISTRY", "JSR_URL", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "DENO_CERT",
	"DENO_TLS_CA_STORE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"}

// tools returns the variables for Deno itself. The process removes them before the function runs.
func tools(f Function, root, cache string, lookup func(string) (string, bool)) []string {
	home := f.dir() // Deno reads .npmrc there
	if !isFile(filepath.Join(home, ".npmrc")) {
		home = filepath.Join(root, "functions")
	}
	env := []string{"DENO_DIR=" + cache, "DENO_NO_UPDATE_CHECK=1", "DENO_NO_PROMPT=1", "NO_COLOR=1", "HOME=" + home,
		"TZ=UTC"}
	if !isFile(filepath.Join(f.dir(), "package.json")) {
		env = append(env, "DENO_NO_PACKAGE_JSON=1") // the package.json of the site around the project means something else
	}
	return append(env, Passed(lookup)...)
}

// certificates returns the files and folders that variables of Deno name.
func certificates(lookup func(string) (string, bool)) (paths []string) {
	for _, name := range []string{"DENO_CERT", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		list, _ := lookup(name)
		paths = append(paths, filepath.SplitList(list)...)
	}
	return paths
}

// Passed returns the variables of this program that a runtime needs to fetch modules.
func Passed(lookup func(string) (string, bool)) (env []string) {
	for _, name := range passed {
		if v, ok := lookup(name); ok && v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}
