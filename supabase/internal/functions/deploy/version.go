package deploy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/host"
)

// deployed is the program of a version, whose process is started again when it ends by itself.
type deployed struct {
	Version
	host    *host.Host
	program string
	sockets func() (string, error) // returns the folder of the socket
	child   func() (host.ChildConfig, error)
	memory  int64
	log     *slog.Logger
	calls   sync.WaitGroup
	life    context.Context // ends with retire
	stop    context.CancelFunc
	watched chan struct{} // closed when watch has ended

	mu      sync.Mutex
	process *child.Process // nil while it restarts
	ready   chan struct{}  // closed when process is set
	starts  int
}

// prepare returns a version that has no process yet.
func (d *Deployer) prepare(v Version) *deployed {
	b := &deployed{
		Version: v, host: d.Host, program: d.store.file(v.ID), sockets: d.sockets, child: d.Child, memory: d.Memory,
		log: d.Log.With("version", v.ID), ready: make(chan struct{}), watched: make(chan struct{}),
	}
	b.life, b.stop = context.WithCancel(context.Background())
	return b
}

// start starts the process once.
func (b *deployed) start(ctx context.Context) error {
	config, err := b.child()
	if err != nil {
		return err
	}
	dir, err := b.sockets()
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.starts++
	socket := filepath.Join(dir, fmt.Sprintf("%s-%d-%d", b.ID, time.Now().UnixNano(), b.starts))
	b.mu.Unlock()
	p, err := child.Start(ctx,
		child.StartOptions{Program: b.program, Socket: socket, Config: config, Log: b.log, Memory: b.memory,
			Keep: true})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.process = p
	close(b.ready)
	return nil
}

// watch starts the process again when it has ended by itself, with growing pauses, until retire.
func (b *deployed) watch() {
	defer close(b.watched)
	pause := child.FirstPause
	for {
		if p := b.running(); p != nil {
			started := time.Now()
			select {
			case <-b.life.Done():
				return
			case <-p.Exited():
			}
			b.dropEnded()
			if time.Since(started) > child.LongestPause {
				pause = child.FirstPause
			}
			b.log.Error("functions process ended; restarting", "pause", pause)
		}
		select {
		case <-b.life.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, child.LongestPause)
		if err := b.start(b.life); err != nil && b.life.Err() == nil {
			b.log.Error("functions do not start", "error", err)
		}
	}
}

// running returns the process, nil while it restarts.
func (b *deployed) running() *child.Process {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.process
}

// restartWait is how long a call waits for a process that restarts.
const restartWait = 5 * time.Second

var errRestarting = errors.New("the functions process is restarting")

// dropEnded drops the process if it has ended, so that calls wait for the next one. It returns what
// await needs.
func (b *deployed) dropEnded() (*child.Process, chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.process != nil {
		select {
		case <-b.process.Exited():
			b.process, b.ready = nil, make(chan struct{})
		default:
		}
	}
	return b.process, b.ready
}

// await returns the process. While it restarts, it waits up to restartWait. A call can learn of the
// end before watch does.
func (b *deployed) await(ctx context.Context) (*child.Process, error) {
	p, ready := b.dropEnded()
	if p != nil {
		return p, nil
	}
	timer := time.NewTimer(restartWait)
	defer timer.Stop()
	select {
	case <-ready:
		if p := b.running(); p != nil {
			return p, nil
		}
		return nil, errRestarting
	case <-timer.C:
		return nil, errRestarting
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ServeHTTP forwards a call to the process.
func (b *deployed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, err := b.await(r.Context())
	if err != nil {
		w.Header().Set("Retry-After", "1")
		host.Fail(w, http.StatusServiceUnavailable, "BOOT_ERROR", "Worker failed to boot (please check logs)")
		return
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	b.host.WatchCall(w, r, name, p.Answers(name), p, b.log)
}

// inGo returns the functions of the program.
func (b *deployed) inGo() []host.FunctionInfo { return inGo(b.Functions) }

// MaxBody returns the largest body that the function of a path accepts.
func (b *deployed) MaxBody(path string) int64 {
	return host.Description{Functions: b.Functions}.MaxBody(path)
}

// Schedules returns the cron expressions of the version.
func (b *deployed) Schedules() map[string]string { return host.SchedulesOf(b.Functions) }

// RunSchedule runs scheduled work in the process.
func (b *deployed) RunSchedule(ctx context.Context, name string) error {
	p, err := b.await(ctx)
	if err != nil {
		return err
	}
	return p.RunSchedule(ctx, name)
}

// RunJob runs a job in the process.
func (b *deployed) RunJob(ctx context.Context, name, job string, args []byte) error {
	p, err := b.await(ctx)
	if err != nil {
		return err
	}
	return p.RunJob(ctx, name, job, args)
}

func (b *deployed) configure(c host.ChildConfig) error {
	if p := b.running(); p != nil {
		return p.Configure(c)
	}
	return nil // the start reads the configuration
}

func (b *deployed) begin() { b.calls.Add(1) }
func (b *deployed) end()   { b.calls.Done() }

// retire ends the process after the calls of the version, or when ctx ends.
func (b *deployed) retire(ctx context.Context) {
	if p := b.running(); p != nil {
		p.Drain()
	}
	over := make(chan struct{})
	go func() {
		b.calls.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
	b.stop()
	<-b.watched
	if p := b.running(); p != nil {
		p.Retire(ctx)
	}
}

// memoryUse returns the resident bytes of the process, 0 while it restarts or where that is not
// known.
func (b *deployed) memoryUse() int64 {
	if p := b.running(); p != nil {
		bytes, _ := p.MemoryUse()
		return bytes
	}
	return 0
}
