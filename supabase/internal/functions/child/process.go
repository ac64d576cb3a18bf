// Package child runs functions in a process of their own, which it talks to over a unix socket:
// those that a Dev builds from source, and the bundles of package deploy. The process itself is
// supabase/stack/child.
package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/tracing"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/functions/jail"
)

// Process is a version of the functions in a child process.
type Process struct {
	host.Description
	keep    bool // the program is needed after the process
	program string
	cmd     *exec.Cmd
	group   *Group
	stdin   io.WriteCloser
	client  *http.Client
	proxy   *Proxy
	calls   sync.WaitGroup
	exited  chan struct{}

	configuring sync.Mutex
	config      host.ChildConfig // as sent last
}

// StartOptions describe a process.
type StartOptions struct {
	Program string
	Socket  string // path for the socket of the process
	Config  host.ChildConfig
	Log     *slog.Logger
	Memory  int64 // limit in bytes; 0 means none
	Keep    bool  // do not delete the program after the process
}

// Start starts a program and waits until it replies. Its error ends with what the program printed.
func Start(ctx context.Context, o StartOptions) (*Process, error) {
	config, socket, log := o.Config, o.Socket, o.Log
	var err error
	if config.FileEnv, err = host.ReadEnvFile(config.EnvFile); err != nil { // the process may not read it
		return nil, err
	}
	l, err := launchJailed(o)
	if err != nil {
		return nil, err
	}
	cell, cmd, stdin, group, stderr := l.cell, l.cell.Cmd, l.stdin, l.group, l.output
	proxy := NewProxy(socket, config.Hide, func(w http.ResponseWriter, r *http.Request, err error) {
		log.ErrorContext(r.Context(), "functions process does not reply", "error", err)
		w.Header().Set("Retry-After", "1")
		host.Fail(w, http.StatusServiceUnavailable, "BOOT_ERROR", "Worker failed to boot (please check logs)")
	})
	p := &Process{keep: o.Keep, program: o.Program, cmd: cmd, group: group, stdin: stdin, client: proxy.Client(),
		proxy: proxy, exited: make(chan struct{})}
	var output bytes.Buffer // for the error of a failed start
	var mu sync.Mutex
	relayed := make(chan struct{})
	go func() {
		defer close(relayed)
		EachLine(stderr, 1<<20, func(line []byte) {
			mu.Lock()
			if output.Len() < 1<<16 {
				output.Write(line)
				output.WriteByte('\n')
			}
			mu.Unlock()
			relay(log, line)
		})
	}()
	if o.Memory > 0 {
		go p.limitMemory(o.Memory, log)
	}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait()
		_ = stdin.Close()
		p.group.Kill() // programs that the functions have started
		select {
		case <-relayed:
		case <-time.After(outputDelay):
		}
		_ = stderr.Close()
		<-relayed
		proxy.Close()
		if err := errors.Join(cell.Close(), os.Remove(socket)); err != nil {
			log.Warn("files of an ended functions process are left", "error", err)
		}
	}()
	if err = p.Configure(config); err == nil {
		err = p.awaitReady(ctx)
	}
	if err == nil {
		err = p.describe(ctx)
	}
	if err != nil {
		p.Retire(ctx)
		mu.Lock()
		defer mu.Unlock()
		return nil, fmt.Errorf("%w\n%s", err, strings.TrimSpace(output.String()))
	}
	return p, nil
}

// outputDelay is how long the output of an ended process is read. A program that the functions have
// started may hold the output open, where Group does not find it.
const outputDelay = time.Second

// launched is a started program.
type launched struct {
	cell   *jail.Cell
	group  *Group
	stdin  *os.File
	output *os.File
}

// launchJailed starts a program in a jail, with its input, its output and its socket.
func launchJailed(o StartOptions) (l launched, err error) {
	listener, err := listen(o.Socket)
	if err != nil {
		return l, err
	}
	defer listener.Close() // otherwise a connection would wait for an ended process
	policy := jail.Policy{Program: o.Program, Memory: o.Memory}
	if l.cell, err = jail.Command(policy, listener); err != nil {
		return l, errors.Join(err, os.Remove(o.Socket))
	}
	if o.Memory > 0 {
		l.cell.Cmd.Env = append(l.cell.Cmd.Env, "GOMEMLIMIT="+strconv.FormatInt(o.Memory/10*9, 10))
	}
	l.group = NewGroup(l.cell)
	if err = l.start(policy); err != nil {
		return l, errors.Join(err, l.cell.Close(), os.Remove(o.Socket))
	}
	return l, nil
}

// start starts the program with pipes. It ends after its input and its calls.
func (l *launched) start(policy jail.Policy) error {
	read, stdin, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	output, written, err := os.Pipe()
	if err != nil {
		return errors.Join(err, stdin.Close())
	}
	defer written.Close()
	cmd := l.cell.Cmd
	cmd.Stdin, cmd.Stdout, cmd.Stderr = read, written, written // shows the output of functions
	if err := l.cell.Start(policy); err != nil {
		return errors.Join(err, stdin.Close(), output.Close())
	}
	l.stdin, l.output = stdin, output
	return nil
}

// listen opens the socket that a process inherits. The process may not make one.
func listen(path string) (*os.File, error) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	defer listener.Close()
	return listener.File()
}

// describe asks the process what it contains.
func (p *Process) describe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, host.HealthTimeout)
	defer cancel()
	if err := p.ask(ctx, "/_internal/describe", &p.Description); err != nil {
		return fmt.Errorf("the functions process does not say what it contains: %w", err)
	}
	if p.Protocol != host.Protocol {
		return fmt.Errorf("the functions were built from packages of another release: their protocol is %d, the server's %d; "+
			"build them again, in a project with third_party/daawo after `daawo init --functions`", p.Protocol,
			host.Protocol)
	}
	return nil
}

// Schedules returns the cron expressions of the process.
func (p *Process) Schedules() map[string]string { return host.SchedulesOf(p.Functions) }

// relay logs a log line of a child, with its attributes in the same order. Another line, such as
// printed text, is logged as it is.
func relay(log *slog.Logger, line []byte) {
	var level slog.Level
	var msg string
	var attrs []slog.Attr
	leveled := false
	fields := json.NewDecoder(bytes.NewReader(line))
	fields.UseNumber()
	_, err := fields.Token() // the brace
	for err == nil && fields.More() {
		var name json.Token
		if name, err = fields.Token(); err != nil {
			break
		}
		switch name {
		case "time":
			err = fields.Decode(new(json.RawMessage))
		case "level":
			err = fields.Decode(&level)
			leveled = true
		case "msg":
			err = fields.Decode(&msg)
		default:
			var v any
			err = fields.Decode(&v)
			attrs = append(attrs, slog.Any(fmt.Sprint(name), v))
		}
	}
	if err != nil || !leveled {
		log.Info(string(line))
		return
	}
	log.LogAttrs(context.Background(), level, msg, attrs...)
}

// awaitReady waits until the child's health check succeeds.
func (p *Process) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://functions/_internal/health", nil)
		if err != nil {
			return err
		}
		if res, err := p.client.Do(req); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.exited:
			return errors.New("functions process exited")
		case <-ctx.Done():
			return errors.New("functions process does not serve")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Configure sends the child its configuration.
func (p *Process) Configure(config host.ChildConfig) error {
	p.configuring.Lock()
	defer p.configuring.Unlock()
	config.Draining = config.Draining || p.config.Draining
	p.config = config
	line, err := json.Marshal(config)
	if err != nil {
		return err
	}
	_, err = p.stdin.Write(append(line, '\n'))
	return err
}

func (p *Process) begin() { p.calls.Add(1) }
func (p *Process) end()   { p.calls.Done() }

// Exited returns a channel that is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// MemoryUse returns the resident bytes of the process. It returns false if the process has ended,
// also while its parent has not waited for it, and where that is not known.
func (p *Process) MemoryUse() (bytes int64, ok bool) {
	bytes, _, ok = Usage(p.cmd.Process.Pid)
	return bytes, ok
}

// CheckHealth runs Func.Health of all functions in the child.
func (p *Process) CheckHealth(ctx context.Context) error {
	return p.ask(ctx, "/_internal/check", &struct{}{})
}

// ServeHTTP forwards a call to the child.
func (p *Process) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.proxy.ServeHTTP(w, r) }

// RunSchedule runs scheduled work in the child.
func (p *Process) RunSchedule(ctx context.Context, name string) error {
	return p.run(ctx, "/_internal/schedule/"+name, nil)
}

// RunJob runs a job in the child.
func (p *Process) RunJob(ctx context.Context, name, job string, args []byte) error {
	return p.run(ctx, "/_internal/job/"+name+"/"+job, args)
}

func (p *Process) run(ctx context.Context, path string, args []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://functions"+path, bytes.NewReader(args))
	if err != nil {
		return err
	}
	if traceparent := tracing.Traceparent(ctx); traceparent != "" {
		req.Header.Set("Traceparent", traceparent)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil || res.StatusCode == http.StatusNoContent {
		return err
	}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		return edge.Snooze(time.Duration(seconds) * time.Second)
	}
	return errors.New(strings.TrimSpace(string(text)))
}

// Retire ends the process after its calls, or when ctx ends. After 15 s it kills the process.
func (p *Process) Retire(ctx context.Context) {
	p.Drain()
	over := make(chan struct{})
	go func() {
		p.calls.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
	_ = p.stdin.Close()
	select {
	case <-p.exited:
	case <-time.After(15 * time.Second):
		p.group.Kill()
		<-p.exited
	}
	if !p.keep {
		_ = os.Remove(p.program)
	}
}

// Drain tells the process that another one serves new calls. The database's connections do not
// suffice for many processes.
func (p *Process) Drain() {
	p.configuring.Lock()
	config := p.config
	p.configuring.Unlock()
	config.Draining = true
	_ = p.Configure(config) // it may have ended
}

// memoryCheck is the pause between two looks at the memory of a process.
const memoryCheck = 200 * time.Millisecond

// limitMemory kills the process when it uses more than limit bytes. Before that its runtime
// collects garbage at nine tenths.
func (p *Process) limitMemory(limit int64, log *slog.Logger) {
	if err := PreferForOOM(p.cmd.Process.Pid); err != nil {
		log.Warn("the kernel may end another process than the functions when memory is short", "error", err)
	}
	tick := time.NewTicker(memoryCheck)
	defer tick.Stop()
	for {
		select {
		case <-p.exited:
			return
		case <-tick.C:
		}
		if memory, ok := p.MemoryUse(); ok && memory > limit {
			log.Error("functions process exceeds its memory limit and is ended", "memory", memory, "limit", limit)
			p.group.Kill()
			return
		}
	}
}

// ask sends a request for the parent's own use and decodes the JSON of its reply.
func (p *Process) ask(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://functions"+path, nil)
	if err != nil {
		return err
	}
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<22))
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusNotFound {
		return errors.New("it was built from packages of another release; build it again, " +
			"in a project with third_party/daawo after `daawo init --functions`")
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", res.Status, bytes.TrimSpace(text))
	}
	return json.Unmarshal(text, into)
}
