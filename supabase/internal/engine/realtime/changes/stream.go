package changes

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Stream reads the write-ahead log and delivers changes. It is safe for concurrent use.
type Stream struct {
	o           Options
	registry    *registry
	queue       *queue
	lanes       *lanes
	policies    policyCache
	metrics     *metrics
	held        slot
	ring        ring
	turns       Turns         // of checks beside the worker's
	passed      atomic.Uint64 // every change up to this position was checked, waits in a lane or is lost
	onBroadcast func(Broadcast)
	onMissed    func()
	replaced    atomic.Bool   // another process goes on from the slot
	read        atomic.Uint64 // everything before this position of the log is read
	lost        atomic.Int64  // transactions
	lastLoss    atomic.Int64  // of the log, unix seconds
	warned      sync.Map      // subjects of messages that are logged once

	mu        sync.Mutex
	needs     int           // subscribers and holds
	used      bool          // there was a need, or another process has left the slot
	published bool          // the publication has tables
	count     int           // connections so far
	broken    int           // the last of them before which changes were lost
	changed   chan struct{} // closed and replaced when needs or state change
	state     error         // nil while streaming
	ended     bool
	restart   context.CancelFunc // ends the present connection
	end       context.CancelFunc // ends Run
	names     []string           // publications of the present connection
	slot      string
	lag       int64
	lagAt     time.Time
}

const (
	defaultPublication = "supabase_realtime"
	defaultRecordBytes = 1 << 20
	defaultQueueBytes  = 64 << 20
	defaultIdle        = time.Minute
	minBackoff         = 100 * time.Millisecond
	maxBackoff         = 10 * time.Second
	batchSize          = 500 // changes that are checked together
	// The server creates a slot when the transactions that were running have ended.
	connectTimeout = 10 * time.Minute
)

// Open returns a Stream. It does not connect: Run does.
func Open(o Options) (*Stream, error) {
	if o.Pool == nil || o.ReplicationURL == "" {
		return nil, errors.New("changes: Pool and ReplicationURL are required")
	}
	if o.Publication == "" {
		o.Publication = defaultPublication
	}
	if o.MaxRecordBytes == 0 {
		o.MaxRecordBytes = defaultRecordBytes
	}
	if o.MaxQueueBytes == 0 {
		o.MaxQueueBytes = defaultQueueBytes
	}
	if o.IdleAfter == 0 {
		o.IdleAfter = defaultIdle
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Stream{o: o, registry: newRegistry(), queue: newQueue(o.MaxQueueBytes),
		lanes: newLanes(o.MaxQueueBytes, time.Now), changed: make(chan struct{}), state: errIdle,
		ring: ring{limit: o.MaxQueueBytes / 4}}
	var err error
	s.metrics, err = newMetrics(s, o.Registerer)
	return s, err
}

// OnBroadcast sets the function that gets the rows of realtime.messages, in the order of their
// commits, and the one that is called when the stream begins to read, because rows before that were
// missed. Call it before Run. The functions must not block.
func (s *Stream) OnBroadcast(fn func(Broadcast), missed func()) {
	s.onBroadcast, s.onMissed = fn, missed
}

// notify wakes the callers that wait for a change of the state. The caller holds the lock.
func (s *Stream) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Hold keeps the stream connected until release is called, for channels that want broadcasts only.
// release may be called more than once.
func (s *Stream) Hold() (release func()) {
	s.need(1)
	return sync.OnceFunc(func() { s.need(-1) })
}

func (s *Stream) need(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.needs += n
	s.used = s.used || n > 0
	s.notify()
}

// needed reports whether the stream has to read: for subscribers, for holds, and, while a table is
// published, for channels that join again. The caller holds the lock.
func (s *Stream) needed() bool { return s.needs > 0 || s.used && s.published }

// Wait waits until the stream is connected. The caller holds it or has a subscriber, otherwise it
// may stay idle.
func (s *Stream) Wait(ctx context.Context) error {
	for {
		s.mu.Lock()
		state, changed, ended := s.state, s.changed, s.ended
		s.mu.Unlock()
		switch {
		case ended:
			return errClosed
		case state == nil:
			return nil
		case errors.Is(state, errWALLevel), errors.Is(state, errNotReplicator):
			return state // waiting does not help
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), state)
		case <-changed:
		}
	}
}

// Run keeps the replication connection open until ctx ends, while it is needed. It reconnects after
// errors and returns nil.
func (s *Stream) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.end = cancel
	s.mu.Unlock()
	if s.replaced.Load() {
		cancel()
	}
	s.lanes.start = func(ln *lane) { workers.Go(func() { laneWorker{s, ln}.run(ctx) }) }
	workers.Go(func() { worker{s}.run(ctx) })
	workers.Go(func() { watcher{s}.watch(ctx) })
	backoff := minBackoff
	for ctx.Err() == nil {
		if !s.waitForNeed(ctx) {
			break
		}
		streamed, err := s.stream(ctx)
		if streamed {
			backoff = minBackoff
		}
		if ctx.Err() != nil || err == nil {
			continue
		}
		s.setState(err)
		s.o.Log.Warn("replication ended; reconnecting", "in", backoff, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(backoff/2 + rand.N(backoff)):
		}
		backoff = min(2*backoff, maxBackoff)
	}
	cancel()
	workers.Wait()
	slotKeeper{s}.endSlot(ctx)
	s.mu.Lock()
	s.ended, s.state = true, errClosed
	s.notify()
	s.mu.Unlock()
	return nil
}

// StandDown ends Run and leaves the slot to the process that serves from now on.
func (s *Stream) StandDown() {
	s.replaced.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		s.end()
	}
}

func (s *Stream) setState(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = err
	s.notify()
}

// waitForNeed waits until a subscriber or a hold exists, or a table is published. It returns false
// if ctx ends.
func (s *Stream) waitForNeed(ctx context.Context) bool {
	for {
		s.mu.Lock()
		needed, changed := s.needed(), s.changed
		if !needed && s.state == nil {
			s.state = errIdle
		}
		s.mu.Unlock()
		if needed {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

// stream opens a connection and reads it. It returns nil if the connection was closed because it
// was not needed or its publications changed. streamed reports whether it was established.
func (s *Stream) stream(ctx context.Context) (streamed bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dial, stop := context.WithTimeout(ctx, connectTimeout)
	c, err := s.connect(dial)
	stop()
	if err != nil {
		return false, err
	}
	defer c.close()
	err = c.read(ctx, func() {
		s.resume(c, cancel)
		if s.onMissed != nil && !c.continued {
			s.onMissed()
		}
		s.o.Log.Info("reading changes", "slot", c.slot, "publications", c.publications)
		go s.closeIdle(ctx, cancel)
	})
	s.mu.Lock()
	s.restart, s.names, s.slot = nil, nil, ""
	if s.state == nil {
		s.state = errors.New("the replication connection has ended")
	}
	s.mu.Unlock()
	if ctx.Err() != nil {
		s.mu.Lock()
		idle := errors.Is(s.state, errIdle)
		s.mu.Unlock()
		if idle {
			c.close()
			slotKeeper{s}.endSlot(ctx)
		}
		return true, nil
	}
	return true, err
}

// closeIdle calls cancel when nothing has needed the stream for some time.
func (s *Stream) closeIdle(ctx context.Context, cancel context.CancelFunc) {
	var idle <-chan time.Time
	for {
		s.mu.Lock()
		needed, changed := s.needed(), s.changed
		s.mu.Unlock()
		switch {
		case needed:
			idle = nil
		case idle == nil:
			idle = time.After(s.o.IdleAfter)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-idle:
			if (watcher{s}).lookForTables(ctx) {
				idle = nil
				continue
			}
			s.setState(errIdle)
			cancel()
			return
		}
	}
}

// recordLoss counts a transaction that is too large or found the queue full.
func (s *Stream) recordLoss(reason string) {
	total, now := s.lost.Add(1), s.o.Now().Unix()
	if last := s.lastLoss.Load(); now-last >= 10 && s.lastLoss.CompareAndSwap(last, now) {
		s.o.Log.Error("changes were lost: "+reason, "transactions", total, "limit_bytes", s.o.MaxQueueBytes)
	}
}

// Lag returns how many bytes of the write-ahead log are not read yet, and when that was measured.
func (s *Stream) Lag() (bytes int64, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lag, s.lagAt
}

// Ready returns nil if the replication connection streams, errIdle if nothing needs it, or why it
// does not stream.
func (s *Stream) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Subscribe adds a subscriber and returns its id. It checks the bindings as upstream does and
// returns a *SubscribeError with upstream's text if one is wrong; any other error may end by
// itself. When it returns, the subscription is live: changes committed later are delivered.
func (s *Stream) Subscribe(ctx context.Context, request Subscriber) (id int64, err error) {
	release := s.Hold() // connects while the check runs
	defer func() {
		if err != nil {
			release()
		}
	}()
	sub := &subscriber{bindings: slices.Clone(request.Bindings), deliver: request.Deliver,
		resumed: request.Resumed, progress: progress{passed: &s.passed}}
	groups, err := s.bindingGroups(ctx, sub, request.Role, request.Claims)
	if err != nil {
		return 0, err
	}
	sub.release = release
	if request.Since != nil {
		return s.subscribeSince(ctx, sub, groups, request)
	}
	id = s.registry.add(sub, groups)
	if err = s.waitForPublication(ctx); err == nil {
		err = s.attach(ctx, sub)
	}
	if err != nil {
		s.registry.remove(id)
		return 0, err
	}
	return id, nil
}

// waitForPublication waits until a connection streams that has the publication of the changes.
func (s *Stream) waitForPublication(ctx context.Context) error {
	if err := s.Wait(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	names := s.names
	s.mu.Unlock()
	if names == nil || slices.Contains(names, s.o.Publication) {
		return nil
	}
	watcher{s}.followPublications(ctx, names)
	return s.Wait(ctx)
}

// bindingGroups validates the bindings of a subscriber and groups them.
func (s *Stream) bindingGroups(ctx context.Context, sub *subscriber, role string,
	claims map[string]any) ([]*bindingGroup, error) {
	conditions, err := s.validateBindings(ctx, role, sub)
	if err != nil {
		return nil, err
	}
	return groupBindings(sub, role, claims, conditions)
}

// Unsubscribe removes a subscriber. A delivery that has begun may end after it returns.
func (s *Stream) Unsubscribe(id int64) {
	if sub := s.registry.get(id); sub != nil && s.registry.remove(id) {
		sub.release()
	}
}

// SetClaims replaces the role and the claims of a subscriber. After an error the subscriber is
// removed, because its old claims are no longer valid.
func (s *Stream) SetClaims(ctx context.Context, id int64, role string, claims map[string]any) error {
	sub := s.registry.get(id)
	if sub == nil {
		return errClosed
	}
	groups, err := s.bindingGroups(ctx, sub, role, claims)
	if err != nil {
		s.Unsubscribe(id)
		return err
	}
	if !s.registry.replace(sub, groups) {
		return errClosed
	}
	return nil
}
