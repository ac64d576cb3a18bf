package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"daawo/supabase/internal/app/handover"
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
// background jobs and the calls of functions have drainTimeout each.
const limitOfDrain = 4 * drainTimeout

// handovers groups the methods of App that replace its process.
type handovers struct{ *App }

func (a *App) handovers() handovers { return handovers{a} }

// open takes the sockets of systemd, or those of the process that this one replaces, with the lock
// of the data folder. In the first process it locks that folder.
func (a handovers) open() (err error) {
	if a.keeper == nil {
		if a.keeper, err = handover.FromKeeper(&a.facts); err != nil {
			return err
		}
	}
	if a.keeper != nil {
		a.onClose("handover", func(context.Context) error { return a.keeper.Close() })
		if a.facts.Protocol != protocol {
			return fmt.Errorf("the running server hands over with protocol %d and this program with %d: restart the server instead", a.facts.Protocol, protocol)
		}
		a.sockets = a.keeper.Sockets
		return nil
	}
	if a.lock, err = lockData(a.data); err != nil {
		return err
	}
	a.onClose("data folder", func(context.Context) error { return a.lock.Close() })
	a.sockets, err = handover.FromSystemd()
	return err
}

// ready closes the sockets that this process does not use and tells the keeper that it serves.
func (a handovers) ready() error {
	for _, unused := range a.sockets.CloseUnused() {
		if a.keeper == nil {
			a.log.Warn("systemd passed a socket for which there is no configured port", "address", unused)
		}
	}
	if a.keeper == nil {
		return nil
	}
	return a.keeper.Ready(a.sockets, Upgraded{Version: a.options.Version, PID: os.Getpid(),
		Took: time.Since(a.began).Round(time.Millisecond).String()})
}

// upgrade starts the installed program as the next process of this server and returns when that one
// serves. If it does not start, this one continues.
func (a handovers) upgrade(ctx context.Context) (u Upgraded, err error) {
	if a.keeper != nil {
		return u, a.keeper.Upgrade(ctx, &u)
	}
	if !a.upgrading.TryLock() {
		return u, handover.ErrUnderWay
	}
	defer a.upgrading.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-a.ending:
			cancel(errors.New("the server stops"))
		case <-ended:
		}
	}()
	files, err := a.sockets.Files()
	if err != nil {
		return u, err
	}
	next, err := a.startNext(ctx, files)
	if err != nil {
		return u, err
	}
	select {
	case a.next <- next:
	default: // the one before was not taken: the server stops
		next.Kill()
		return u, handover.ErrUnderWay
	}
	return u, json.Unmarshal(next.About, &u)
}

// startNext starts the next process with the sockets, which it closes here.
func (a handovers) startNext(ctx context.Context, files *handover.Files) (*handover.Server, error) {
	defer files.Close()
	if err := files.AddLock(a.lock); err != nil {
		return nil, err
	}
	a.log.Info("starting the next process", "program", a.program.Path)
	next, err := a.spawn(ctx, a.program, facts{Protocol: protocol, DatabaseTLSPort: a.database.tlsPort}, files)
	if err != nil {
		a.log.Error("the next process does not serve; this one continues", "error", err)
		return nil, fmt.Errorf("the new process does not serve, the running one continues: %w", err)
	}
	return next, nil
}

// standDown lets the next process accept all connections.
func (a handovers) standDown() {
	for _, f := range a.standDowns {
		f()
	}
	a.standDowns = nil
}

// keep finishes the work of this process, which next has replaced, and then keeps Postgres and the
// lock of the data folder while next, or a process that replaces that one, serves.
func (a handovers) keep(ctx context.Context, current *handover.Server) error {
	a.log.Info("another process serves; finishing the requests in flight", "process", current.PID())
	began := time.Now()
	a.standDown()
	if err := closeDownTo(context.WithoutCancel(ctx), a.App, a.kept); err != nil {
		a.log.Warn("the replaced process did not end in order", "error", err)
	}
	a.sockets = nil
	debug.FreeOSMemory()
	a.log.Info("the replaced process has finished", "duration", time.Since(began))
	current.Alone()
	var failure error
	for running := true; running; {
		select {
		case <-ctx.Done():
			current.Stop()
			failure, running = current.Await(limitOfDrain), false
		case <-current.Exited():
			failure, running = current.Err(), false
		case <-current.Asked():
			current = a.replace(ctx, current)
		}
	}
	if failure != nil {
		failure = fmt.Errorf("the serving process ended: %w", failure)
	}
	current.Close()
	return errors.Join(failure, a.Close(context.WithoutCancel(ctx)))
}

// replace starts the next process and returns it when current has ended, or current if the next one
// does not serve.
func (a handovers) replace(ctx context.Context, current *handover.Server) *handover.Server {
	files, err := current.Files()
	var next *handover.Server
	if err == nil {
		next, err = a.startNext(ctx, files)
	}
	if err != nil {
		current.Answer(nil, err)
		return current
	}
	began := time.Now()
	current.Answer(next.About, nil)
	current.Replace()
	if err := current.Await(limitOfDrain); err != nil {
		a.log.Warn("the replaced process did not end in order", "error", err)
	}
	a.log.Info("the replaced process has finished", "duration", time.Since(began))
	current.Close()
	next.Alone()
	return next
}
