// Package lifecycle runs one process of a server: it takes over from the process before this one,
// waits for the end, and hands over to the next one. Package handover has the mechanism.
package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/memory"
)

// protocol is the version of what a keeper and the servers that it starts say to each other.
const protocol = 1

// facts are what the first process tells a server that it starts.
type facts struct {
	Protocol        int `json:"protocol"`
	DatabaseTLSPort int `json:"database_tls_port"`
}

// Upgraded describes the process that an upgrade has started.
type Upgraded struct {
	Version string `json:"version"`
	PID     int    `json:"pid"`
	Took    string `json:"took"` // the start of that process
}

// limitOfDrain is how long a replaced process may take to end: the requests in flight, the
// background jobs and the calls of functions have installation.DrainTimeout each.
const limitOfDrain = 4 * installation.DrainTimeout

// Process is this process of a server.
type Process struct {
	installation.Installation
	Sockets *handover.Sockets // of systemd, of the process that this one replaces, or opened here
	// Spawn starts the next process; tests replace it
	Spawn func(context.Context, handover.Program, any, *handover.Files) (*handover.Server, error)

	program   handover.Program      // of the next process of an upgrade
	keeper    *handover.Keeper      // nil in the first process
	facts     facts                 // of the keeper
	lock      *os.File              // of the data folder, in the first process
	next      chan *handover.Server // the process that has replaced this one
	upgrading sync.Mutex            // held during an upgrade
	stop      chan struct{}         // closed when the operator stops the stack
	stopOnce  sync.Once
	ending    chan struct{} // closed when Close begins
	endOnce   sync.Once
	kept      int         // the parts that the first process keeps after an upgrade
	tlsPort   int         // see facts
	restarts  []time.Time // of serving processes that failed
}

// New returns the process of an installation that serves alone until Open.
func New(in installation.Installation) *Process {
	return &Process{
		Installation: in, Sockets: handover.NewSockets(), Spawn: handover.Start, program: handover.This(),
		next: make(chan *handover.Server, 1), stop: make(chan struct{}), ending: make(chan struct{}),
	}
}

// Connect connects this process to the one that it replaces, in tests of both in one process.
func (p *Process) Connect(connect handover.Connect) (err error) {
	p.keeper, err = connect(&p.facts)
	return err
}

// Replaces reports whether this process replaces another one, which keeps the database.
func (p *Process) Replaces() bool { return p.keeper != nil }

// TLSPort returns the port of the database with TLS that the process before this one has opened; 0
// for none.
func (p *Process) TLSPort() int { return p.facts.DatabaseTLSPort }

// KeepParts makes the parts that run now those that the first process keeps after an upgrade.
// tlsPort is the port of the database with TLS.
func (p *Process) KeepParts(tlsPort int) { p.kept, p.tlsPort = p.Running(), tlsPort }

// StartFailed tells the process that this one should replace that it does not start.
func (p *Process) StartFailed(err error) { p.keeper.Failed(err) }

// Stop ends Serve.
func (p *Process) Stop() { p.stopOnce.Do(func() { close(p.stop) }) }

// Close stops all parts, the newest first. It returns the errors of all parts.
func (p *Process) Close(ctx context.Context) error {
	p.endOnce.Do(func() { close(p.ending) })
	return p.CloseAll(ctx)
}

// Serve returns when ctx ends, the operator stops the stack or a part fails permanently, and all
// parts are closed. It calls alone when the process before this one has ended.
func (p *Process) Serve(ctx context.Context, alone func()) error {
	var failure error
	ended := p.keeper.Alone()
wait:
	for {
		select {
		case <-ctx.Done():
		case <-p.stop:
		case <-p.keeper.Stopped():
		case failure = <-p.Failed():
		case <-p.keeper.Gone():
			failure = handover.ErrEnded
		case <-p.keeper.Replaced():
			p.StandDown()
		case next := <-p.next:
			return p.keep(ctx, next)
		case <-ended:
			ended = nil
			alone()
			continue
		}
		break wait
	}
	p.Log.Info("stopping")
	closing := context.WithoutCancel(ctx)
	if errors.Is(failure, handover.ErrEnded) { // Postgres has ended with the first process
		var cancel context.CancelFunc
		closing, cancel = context.WithTimeout(closing, limitWithoutDatabase)
		defer cancel()
	}
	return errors.Join(failure, p.Close(closing))
}

// limitWithoutDatabase is how long the parts together may take to end without a database.
const limitWithoutDatabase = time.Second

// Open takes the sockets of systemd, or of the process that this one replaces, with the lock
// of the data folder. In the first process it locks that folder.
func (p *Process) Open() (err error) {
	if p.keeper == nil {
		if p.keeper, err = handover.FromKeeper(&p.facts); err != nil {
			return err
		}
	}
	if p.keeper != nil {
		p.OnClose("handover", func(context.Context) error { return p.keeper.Close() })
		if p.facts.Protocol != protocol {
			return fmt.Errorf("the running server hands over with protocol %d and this program with %d: restart the server instead", p.facts.Protocol, protocol)
		}
		p.Sockets = p.keeper.Sockets
		return nil
	}
	if p.lock, err = datadir.Lock(p.Data); err != nil {
		return err
	}
	p.OnClose("data folder", func(context.Context) error { return p.lock.Close() })
	p.Sockets, err = handover.FromSystemd()
	return err
}

// Ready closes the sockets that this process does not use and tells the keeper that it serves. took
// is the duration of the start.
func (p *Process) Ready(took time.Duration) error {
	for _, unused := range p.Sockets.CloseUnused() {
		if p.keeper == nil {
			p.Log.Warn("systemd passed a socket for which there is no configured port", "address", unused)
		}
	}
	if p.keeper == nil {
		return nil
	}
	return p.keeper.Ready(p.Sockets, Upgraded{Version: p.Version, PID: os.Getpid(),
		Took: took.Round(time.Millisecond).String()})
}

// Upgrade starts the installed program as the next process of this server and returns when that one
// serves. If it does not start, this one continues.
func (p *Process) Upgrade(ctx context.Context) (u Upgraded, err error) {
	if p.keeper != nil {
		return u, p.keeper.Upgrade(ctx, &u)
	}
	if !p.upgrading.TryLock() {
		return u, handover.ErrUnderWay
	}
	defer p.upgrading.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-p.ending:
			cancel(errors.New("the server stops"))
		case <-ended:
		}
	}()
	files, err := p.Sockets.Files()
	if err != nil {
		return u, err
	}
	next, err := p.startNext(ctx, files)
	if err != nil {
		return u, err
	}
	select {
	case p.next <- next:
	default: // the one before was not taken: the server stops
		next.Kill()
		return u, handover.ErrUnderWay
	}
	return u, json.Unmarshal(next.About, &u)
}

// startNext starts the next process with the sockets, which it closes here.
func (p *Process) startNext(ctx context.Context, files *handover.Files) (*handover.Server, error) {
	defer files.Close()
	if err := files.AddLock(p.lock); err != nil {
		return nil, err
	}
	p.Log.Info("starting the next process", "program", p.program.Path)
	next, err := p.Spawn(ctx, p.program, facts{Protocol: protocol, DatabaseTLSPort: p.tlsPort}, files)
	if err != nil {
		p.Log.Error("the next process does not serve; this one continues", "error", err)
		return nil, fmt.Errorf("the new process does not serve, the running one continues: %w", err)
	}
	return next, nil
}

// keep finishes the work of this process, which next has replaced, and then keeps Postgres and the
// lock of the data folder while next, or a process that replaces that one, serves.
func (p *Process) keep(ctx context.Context, current *handover.Server) error {
	p.Log.Info("another process serves; finishing the requests in flight", "process", current.PID())
	began := time.Now()
	p.StandDown()
	if err := p.CloseTo(context.WithoutCancel(ctx), p.kept); err != nil {
		p.Log.Warn("the replaced process did not end in order", "error", err)
	}
	p.Sockets = nil
	memory.Trim()
	p.Log.Info("the replaced process has finished", "duration", time.Since(began))
	current.Alone()
	var failure error
	for running := true; running; {
		select {
		case <-ctx.Done():
			current.Stop()
			failure, running = current.Await(limitOfDrain), false
		case <-current.Exited():
			if failure = current.Err(); failure == nil {
				running = false
			} else if next := p.restart(ctx, current, failure); next != nil {
				current, failure = next, nil
			} else {
				running = false
			}
		case <-current.Asked():
			current = p.replace(ctx, current)
		}
	}
	if failure != nil {
		failure = fmt.Errorf("the serving process ended: %w", failure)
	}
	current.Close()
	return errors.Join(failure, p.Close(context.WithoutCancel(ctx)))
}

// restartsPerMinute is how often a serving process that failed is started again.
const restartsPerMinute = 3

// restart starts a process in the place of one that failed, with its sockets, so that no connection
// is refused. It returns nil if processes fail too often, or if the process does not serve.
func (p *Process) restart(ctx context.Context, ended *handover.Server, failure error) *handover.Server {
	p.Log.Error("the serving process ended; starting another", "error", failure)
	recent := slices.DeleteFunc(p.restarts, func(at time.Time) bool { return time.Since(at) > time.Minute })
	p.restarts = append(recent, time.Now())
	if len(p.restarts) > restartsPerMinute {
		return nil
	}
	files, err := ended.Files()
	if err != nil {
		p.Log.Error("the sockets of the ended process are lost", "error", err)
		return nil
	}
	next, err := p.startNext(ctx, files)
	if err != nil {
		return nil // startNext has logged it
	}
	ended.Close()
	next.Alone()
	return next
}

// replace starts the next process and returns it when current has ended, or current if the next one
// does not serve.
func (p *Process) replace(ctx context.Context, current *handover.Server) *handover.Server {
	files, err := current.Files()
	var next *handover.Server
	if err == nil {
		next, err = p.startNext(ctx, files)
	}
	if err != nil {
		current.Answer(nil, err)
		return current
	}
	began := time.Now()
	current.Answer(next.About, nil)
	current.Replace()
	if err := current.Await(limitOfDrain); err != nil {
		p.Log.Warn("the replaced process did not end in order", "error", err)
	}
	p.Log.Info("the replaced process has finished", "duration", time.Since(began))
	current.Close()
	next.Alone()
	return next
}
