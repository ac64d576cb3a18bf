package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// variable names the file of the link in the environment of a server that a keeper has started.
const variable = "DAAWO_HANDOVER"

// ErrEnded means that the keeper has ended.
var ErrEnded = errors.New("the first process of this server has ended")

// Keeper is the view of a server on the process that has started it. A nil Keeper belongs to a
// server that no keeper has started: its channels never receive.
type Keeper struct {
	// Sockets are taken from the server that this one replaces.
	Sockets *Sockets

	link      *link
	lock      *os.File
	asking    sync.Mutex
	answer    chan message
	alone     chan struct{}
	replaced  chan struct{}
	stopped   chan struct{}
	gone      chan struct{}
	isAlone   bool
	isReplace bool
	isStopped bool
}

// FromKeeper returns the keeper that has started this process, nil if none has. It decodes the
// keeper's facts into facts.
func FromKeeper(facts any) (*Keeper, error) {
	text, ok := os.LookupEnv(variable)
	if !ok {
		return nil, nil
	}
	if err := os.Unsetenv(variable); err != nil {
		return nil, err
	}
	fd, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	unix.CloseOnExec(fd)
	return newKeeper(fd, facts)
}

// newKeeper waits for the keeper's welcome.
func newKeeper(fd int, facts any) (*Keeper, error) {
	l, err := newLink(fd)
	if err != nil {
		return nil, fmt.Errorf("handover: %w", err)
	}
	m, err := l.receive()
	if err == nil && m.Kind != welcome {
		err = fmt.Errorf("the first message is %q", m.Kind)
	}
	if err == nil {
		err = json.Unmarshal(m.Data, facts)
	}
	if err != nil {
		closeFiles(m.files)
		l.close()
		return nil, fmt.Errorf("handover: %w", err)
	}
	k := &Keeper{
		link: l, Sockets: NewSockets(),
		answer: make(chan message, 1), alone: make(chan struct{}), replaced: make(chan struct{}),
		stopped: make(chan struct{}), gone: make(chan struct{}),
	}
	files := &Files{m.Names, m.files}
	k.lock = files.take(lockName)
	for i, name := range files.names {
		if err := k.Sockets.give(name, files.fds[i]); err != nil {
			closeFiles(files.fds[i+1:])
			l.close()
			return nil, fmt.Errorf("handover of socket %s: %w", name, err)
		}
	}
	go k.read()
	return k, nil
}

// read reads the keeper's messages until the link ends.
func (k *Keeper) read() {
	defer close(k.gone)
	once := func(done *bool, c chan struct{}) {
		if !*done {
			*done = true
			close(c)
		}
	}
	for {
		m, err := k.link.receive()
		if err != nil {
			return
		}
		closeFiles(m.files)
		switch m.Kind {
		case alone:
			once(&k.isAlone, k.alone)
		case replaced:
			once(&k.isReplace, k.replaced)
		case stop:
			once(&k.isStopped, k.stopped)
		case upgraded:
			select {
			case k.answer <- m:
			default: // no call of Upgrade waits for it
			}
		}
	}
}

// Alone is closed when the server that this one replaces has ended.
func (k *Keeper) Alone() <-chan struct{} {
	if k == nil {
		return nil
	}
	return k.alone
}

// Replaced is closed when another server has replaced this one, which must then finish its work and
// end.
func (k *Keeper) Replaced() <-chan struct{} {
	if k == nil {
		return nil
	}
	return k.replaced
}

// Stopped is closed when the keeper ends the whole program.
func (k *Keeper) Stopped() <-chan struct{} {
	if k == nil {
		return nil
	}
	return k.stopped
}

// Gone is closed when the keeper has ended.
func (k *Keeper) Gone() <-chan struct{} {
	if k == nil {
		return nil
	}
	return k.gone
}

// Ready tells the keeper that this server serves on its sockets. about is what Upgrade returns to
// its caller.
func (k *Keeper) Ready(sockets *Sockets, about any) error {
	data, err := json.Marshal(about)
	if err != nil {
		return err
	}
	files, err := sockets.Files()
	if err != nil {
		return err
	}
	defer files.Close()
	return k.link.send(message{Kind: ready, Data: data, Names: files.names, files: files.fds})
}

// Failed tells the keeper why this server does not start.
func (k *Keeper) Failed(reason error) {
	if k == nil {
		return
	}
	_ = k.link.send(message{Kind: failed, Text: reason.Error()}) // otherwise it sees the end of this process
}

// Upgrade asks the keeper to start the next server and decodes what that one says about itself into
// about. It returns when the next server serves, and an error if it does not start: then this one
// continues to serve.
func (k *Keeper) Upgrade(ctx context.Context, about any) error {
	if !k.asking.TryLock() {
		return ErrUnderWay
	}
	defer k.asking.Unlock()
	if err := k.link.send(message{Kind: upgrade}); err != nil {
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	select {
	case m := <-k.answer:
		if m.Text != "" {
			return errors.New(m.Text)
		}
		return json.Unmarshal(m.Data, about)
	case <-k.gone:
		return ErrEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the link and waits for its reader.
func (k *Keeper) Close() error {
	k.link.close()
	<-k.gone
	if k.lock != nil {
		return k.lock.Close()
	}
	return nil
}
