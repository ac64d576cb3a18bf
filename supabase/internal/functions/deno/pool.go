// Package deno runs functions in TypeScript with Deno: each function in a process of its own with
// few permissions, which starts at the first call and ends when it is idle.
package deno

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/jail"
	"daawo/supabase/internal/parts/program"

	"github.com/google/uuid"
)

// Limits of a process. Those of upstream's runtime are in its documentation.
type Limits struct {
	Processes int           // that run at the same time
	Heap      int64         // bytes of JavaScript's heap; upstream's is 256 MB
	Memory    int64         // resident bytes; its cgroup, if it has one, gets a quarter more
	CPU       time.Duration // of processor time without the end of a call; upstream's is 2 s for each call
	Wall      time.Duration // of a call with its background tasks; upstream's is 400 s
	Idle      time.Duration // after which a process without calls ends
	Boot      time.Duration // of a start, in which dependencies are fetched
	Wait      time.Duration // of a call for a process while Processes run
}

// WithDefaults returns the limits with defaults in place of zeros.
func (l Limits) WithDefaults() Limits {
	set := func(to *time.Duration, value time.Duration) {
		if *to == 0 {
			*to = value
		}
	}
	if l.Processes == 0 {
		l.Processes = 8
	}
	if l.Heap == 0 {
		l.Heap = 256 << 20
	}
	if l.Memory == 0 {
		l.Memory = l.Heap + 128<<20 // Deno itself needs 60 MB
	}
	set(&l.CPU, 2*time.Second)
	set(&l.Wall, 400*time.Second)
	set(&l.Idle, 5*time.Minute)
	set(&l.Boot, 2*time.Minute)
	set(&l.Wait, 10*time.Second)
	return l
}

// pool starts and ends the processes of all functions.
type pool struct {
	Options

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when a process may have become free
	current map[processKey]*process
	live    []*process // those whose process has not ended
	turns   int        // starts that may begin
	failed  map[processKey]failure
	closed  bool
}

// processKey names a function of a set.
type processKey struct {
	set  *set
	name string
}

// failure is a failed start. The next one is tried after a pause, or after a change of the files.
type failure struct {
	err   error
	state state
	until time.Time
	pause time.Duration
}

// Pauses after a failed start.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

var (
	errBusy   = errors.New("all processes for functions are busy")
	errClosed = program.ErrClosed
)

// BootError is the error of a function that does not start.
type BootError struct{ Cause error }

// Error returns the message of the runtime.
func (e *BootError) Error() string { return e.Cause.Error() }

func newPool(o Options) *pool {
	return &pool{
		Options: o, changed: make(chan struct{}), current: map[processKey]*process{}, failed: map[processKey]failure{},
		turns: max(runtime.GOMAXPROCS(0)/2, 1),
	}
}

// maxStarts is how often a call starts a process that is killed at its start.
const maxStarts = 3

// acquire returns a process that can be called, and starts one if there is none. The caller must
// release it.
func (r *pool) acquire(ctx context.Context, k processKey, f Function) (*process, error) {
	timer := time.NewTimer(r.Limits.Wait)
	defer timer.Stop()
	for starts := 1; ; {
		p, changed, err := r.take(k, f)
		if err != nil {
			return nil, err
		}
		if p == nil {
			select {
			case <-changed:
				continue
			case <-timer.C:
				return nil, errBusy
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		p.begin.Do(func() { r.begin(p, f) })
		select {
		case <-p.booted:
		case <-ctx.Done():
			r.release(p)
			return nil, ctx.Err()
		}
		if p.bootErr == nil {
			return p, nil
		}
		r.release(p)
		if p.startErr {
			return nil, p.bootErr
		}
		if !errors.Is(p.bootErr, errKilled) || starts == maxStarts {
			return nil, &BootError{p.bootErr}
		}
		starts++
		<-p.exited
	}
}

// longestTurn is how long a start can keep others waiting. Most take less; one that fetches modules
// waits for other servers and needs no processor.
const longestTurn = 150 * time.Millisecond

// takeTurn lets others wait while a process starts, so that starts need half of the processors.
// r.mu is held.
func (r *pool) takeTurn(p *process) {
	r.turns--
	go func() {
		select {
		case <-p.booted:
		case <-time.After(longestTurn):
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.turns++
		r.signal()
	}()
}

// take returns the process of a function, or a new one that has not begun, and counts the call. It
// returns nil and a channel while all processes are busy, or others start.
func (r *pool) take(k processKey, f Function) (p *process, changed chan struct{}, err error) {
	var now state
	if k.set.watch {
		now = f.stateOf(k.set.root)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, errClosed
	}
	if k.set.problem != nil {
		return nil, nil, &BootError{k.set.problem}
	}
	if err := f.check(); err != nil {
		return nil, nil, &BootError{err}
	}
	if p := r.current[k]; p != nil {
		if equal(p.state, now) && !hasExited(p) {
			p.calls++
			return p, nil, nil
		}
		r.retire(p, "termination")
	}
	if last, ok := r.failed[k]; ok && time.Now().Before(last.until) && equal(last.state, now) {
		return nil, nil, &BootError{last.err}
	}
	if len(r.live) >= r.Limits.Processes {
		r.evict()
		return nil, r.changed, nil
	}
	if r.turns == 0 {
		return nil, r.changed, nil
	}
	p = newProcess(k, now, r.Log.With("function", f.Name))
	r.current[k], p.calls = p, 1
	r.live = append(r.live, p)
	r.takeTurn(p)
	return p, nil, nil
}

// begin starts a process. r.mu is not held: a fork takes milliseconds, in which others are called.
func (r *pool) begin(p *process, f Function) {
	l, err := r.launch(p.key, f)
	if err == nil {
		err = p.start(l, child.Failed)
	}
	if err != nil {
		p.notStarted(err)
	}
	go r.watch(p)
}

func hasExited(p *process) bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func equal(a, b state) bool {
	if len(a) != len(b) {
		return false
	}
	for name, s := range a {
		if other, ok := b[name]; !ok || other.size != s.size || !other.modified.Equal(s.modified) {
			return false
		}
	}
	return true
}

// evict ends the process whose last call is the longest ago, if one has no calls.
func (r *pool) evict() {
	var oldest *process
	for _, p := range r.live {
		if p.calls == 0 && !p.retired && (oldest == nil || p.last.Before(oldest.last)) {
			oldest = p
		}
	}
	if oldest != nil {
		r.retire(oldest, "early_drop")
	}
}

// retire gives a process no further calls and ends it after its calls. r.mu is held.
func (r *pool) retire(p *process, reason string) {
	if p.retired {
		return
	}
	p.retired = true
	if r.current[p.key] == p {
		delete(r.current, p.key)
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), r.Limits.Wall)
		defer cancel()
		for {
			r.mu.Lock()
			calls, changed := p.calls, r.changed
			r.mu.Unlock()
			if calls == 0 {
				break
			}
			select {
			case <-changed:
			case <-p.exited:
				return
			case <-ctx.Done():
			}
			if ctx.Err() != nil {
				break
			}
		}
		p.unload(ctx, reason)
	}()
}

// release ends a call.
func (r *pool) release(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.calls--
	p.done++
	p.last = time.Now()
	if p.calls == 0 {
		r.signal()
	}
}

// signal wakes all that wait for a change. r.mu is held.
func (r *pool) signal() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// nice is how much lower the priority of functions is than that of the server and of Postgres. A
// process of Deno computes for 20 ms at its start, in several threads.
const nice = 10

// launch prepares the start of a process.
func (r *pool) launch(k processKey, f Function) (l launch, err error) {
	program, err := r.Deno(context.Background())
	if err != nil {
		return l, err
	}
	id := uuid.Must(uuid.NewV7()).String() // only fails if the system has no entropy
	vars, err := r.Vars()
	if err != nil {
		return l, err
	}
	var env []string
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	lookup := k.set.lookup(r.Getenv)
	env = append(env, tools(f, k.set.root, k.set.cache, lookup)...)
	if err := os.MkdirAll(k.set.cache, 0o700); err != nil {
		return l, err
	}
	bootstrap, err := writeBootstrap(r.Cache)
	if err != nil {
		return l, err
	}
	policy := jail.Policy{
		Program: program, Memory: r.Limits.Memory, Listens: true, Bound: true, Nice: nice, Write: []string{k.set.cache},
		Read: slices.Concat(k.set.visible(r.Private), f.readable(k.set.root), certificates(lookup),
			[]string{bootstrap, f.ImportMap, filepath.Join(k.set.root, "functions", ".npmrc")}),
	}
	cell, err := jail.Command(policy)
	if err != nil {
		return l, err
	}
	socket := filepath.Join(cell.Folder, "calls")
	sockets := []string{socket}
	if f.usesNode(k.set.root) {
		sockets = append(sockets, nodeSocket(socket))
		env = append(env, "DAAWO_FUNCTION_NODE="+nodeSocket(socket))
	}
	env = append(env, "DAAWO_FUNCTION_SOCKET="+socket, "SB_EXECUTION_ID="+id, "SB_REGION="+r.Region,
		fmt.Sprintf("DENO_DEPLOYMENT_ID=%s_%s_%s", r.Project, f.Name, k.set.version))
	cell.Cmd.Args = append([]string{program}, arguments(f, k.set, sockets, bootstrap, r.Limits.Heap)...)
	cell.Cmd.Env, cell.Cmd.Dir = env, f.dir()
	return launch{cell, policy, socket, r.Hide, r.Limits.Boot}, nil
}

// forget removes a process that has ended and remembers a failed start.
func (r *pool) forget(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live = slices.DeleteFunc(r.live, func(other *process) bool { return other == p })
	if r.current[p.key] == p {
		delete(r.current, p.key)
	}
	if p.bootErr != nil && !p.startErr && !p.retired && !errors.Is(p.bootErr, errKilled) {
		last := r.failed[p.key]
		pause := min(max(firstPause, 2*last.pause), longestPause)
		r.failed[p.key] = failure{p.bootErr, p.state, time.Now().Add(pause), pause}
		p.log.Error("function does not start", "error", p.bootErr)
	}
	r.signal()
}

// drop ends the processes of a set after their calls, or all if s is nil. The next calls start new
// ones.
func (r *pool) drop(s *set) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.live {
		if s == nil || p.key.set == s {
			r.retire(p, "termination")
		}
	}
	for k := range r.failed {
		if s == nil || k.set == s {
			delete(r.failed, k)
		}
	}
}

// close ends all processes after their calls, or when ctx ends.
func (r *pool) close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.drop(nil)
	for {
		r.mu.Lock()
		live, changed := slices.Clone(r.live), r.changed
		r.mu.Unlock()
		if len(live) == 0 {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			for _, p := range live {
				p.kill("")
			}
			<-changed
		}
	}
	return nil
}

// memory returns the resident bytes of all processes.
func (r *pool) memory() (sum int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.live {
		if p.hasStarted() {
			bytes, _, _ := child.Usage(p.pid())
			sum += bytes
		}
	}
	return sum
}

// expire lets the calls of a process end, of which one has exceeded Limits.Wall, and then ends it.
func (r *pool) expire(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retire(p, "wall_clock")
}
