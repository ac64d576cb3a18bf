package changes

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"daawo/supabase/internal/database/pool"
)

// pair is a table and a user that listens to it.
type pair struct {
	table  uint32
	user   unique.Handle[policyUser]
	filter string // if not "", only the user's bindings with this filter
}

// diversion says why changes go to a lane.
type diversion struct {
	slow bool
	lost string // why no lane delivers them, or ""
}

// Reasons why a subscriber has to read a table again, for the client.
const (
	reasonConnection = "the connection to the database was lost"
	reasonQueue      = "checks are slower than the writes"
	reasonTooLarge   = "a transaction is larger than the server keeps"
	reasonPolicy     = "a policy failed"
	reasonSlow       = "a policy takes too long"
	reasonFilter     = "a filter failed"
	reasonClaims     = "the token changed while changes waited for a slow policy"
	reasonFailed     = "the check of changes failed"
	reasonForgotten  = "the server no longer has all changes since then"
)

// lossReasons are the reasons for metrics.
var lossReasons = []string{reasonConnection, reasonQueue, reasonTooLarge, reasonPolicy, reasonSlow, reasonFilter,
	reasonClaims, reasonFailed}

var errBudget = errors.New("the common check had no time left")

// slowFor is how long a pair stays in its lane after a check that took too long for the common one.
const slowFor = time.Minute

// lane has the changes of one table for one user whose check takes too long for the common check,
// or fails there. It checks and delivers them in their order, while the changes for other users and
// tables go on.
type lane struct {
	pair    pair
	items   []laneItem
	bytes   int
	running bool
	slow    time.Time // until then, the pair does not return to the common check
	// position of the first change that is not delivered, or noPosition. Positions do not fall,
	// because only the worker adds changes. Written under the lock of lanes.
	next atomic.Uint64
}

// laneItem is a change with the user's binding groups.
type laneItem struct {
	change    rowChange
	listeners []listener
}

// lanes has the lanes in use. It is safe for concurrent use.
type lanes struct {
	mu     sync.Mutex
	now    func() time.Time
	byPair map[pair]*lane
	start  func(*lane) // begins to check a lane that was empty
	bytes  int
	limit  int // bytes of all lanes; one lane may have an eighth
}

func newLanes(limit int, now func() time.Time) *lanes {
	return &lanes{now: now, byPair: map[pair]*lane{}, limit: limit}
}

// open returns the pairs of a change that have a lane.
func (l *lanes) open(c *matchedChange) (pairs []pair) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.byPair) == 0 {
		return nil
	}
	for i := range c.listeners {
		for _, p := range c.pairs(&c.listeners[i]) {
			switch ln := l.byPair[p]; {
			case ln == nil:
			case len(ln.items) == 0 && !ln.running && l.now().After(ln.slow):
				delete(l.byPair, p)
			default:
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

// add adds a change to the lane of a pair and returns the lane, or nil if it is full.
func (l *lanes) add(p pair, why diversion, item laneItem) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := item.change.memory()
	ln := l.byPair[p]
	if ln == nil {
		ln = &lane{pair: p}
		ln.next.Store(noPosition)
		l.byPair[p] = ln
	}
	if why.slow {
		ln.slow = l.now().Add(slowFor)
	}
	if ln.bytes > 0 && (ln.bytes+size > l.limit/8 || l.bytes+size > l.limit) {
		return nil
	}
	ln.items = append(ln.items, item)
	if ln.next.Load() == noPosition {
		ln.next.Store(item.change.position)
	}
	ln.bytes += size
	l.bytes += size
	if !ln.running {
		ln.running = true
		l.start(ln)
	}
	return ln
}

// advance notes that the changes before rest, which is left of those that take returned, were
// delivered. The caller holds the lock of lanes.
func (ln *lane) advance(rest []*matchedChange) {
	switch {
	case len(rest) > 0:
		ln.next.Store(rest[0].position)
	case len(ln.items) > 0:
		ln.next.Store(ln.items[0].change.position)
	default:
		ln.next.Store(noPosition)
	}
}

// take returns the next changes of a lane.
func (l *lanes) take(ln *lane) []laneItem {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(ln.items), batchSize)
	items := ln.items[:n:n]
	ln.items = ln.items[n:]
	return items
}

// done ends the check of items of a lane and reports whether the lane is empty. A pair whose check
// was slow stays in its lane for some time, because otherwise it would delay all others again.
func (l *lanes) done(ln *lane, items []laneItem, slow bool) (empty bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, item := range items {
		ln.bytes -= item.change.memory()
		l.bytes -= item.change.memory()
	}
	ln.advance(nil)
	if ln.slow = (time.Time{}); slow {
		ln.slow = l.now().Add(slowFor)
	}
	if len(ln.items) > 0 {
		return false
	}
	ln.items, ln.running = nil, false // a subscriber may keep the lane
	if !slow {
		delete(l.byPair, ln.pair)
	}
	return true
}

// waiting returns how many lanes have changes that are not delivered.
func (l *lanes) waiting() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ln := range l.byPair {
		if ln.running || len(ln.items) > 0 {
			n++
		}
	}
	return n
}

// laneWorker checks and delivers the changes of a lane.
type laneWorker struct {
	*Stream
	ln *lane
}

// run works until the lane is empty, or ctx ends.
func (s laneWorker) run(ctx context.Context) {
	for {
		items := s.lanes.take(s.ln)
		slow, err := s.check(ctx, items)
		if ctx.Err() != nil { // the changes are perhaps not delivered, and no later message may confirm them
			return
		}
		if err != nil {
			s.o.Log.Error("changes were lost: their check failed", "changes", len(items), "error", err)
			loseItems(items, reasonFailed)
		}
		if s.lanes.done(s.ln, items, slow || err != nil) {
			return
		}
	}
}

// loseItems notes that the changes of a lane were lost.
func loseItems(items []laneItem, reason string) {
	noted := map[*subscriber]bool{}
	for _, item := range items {
		for _, l := range item.listeners {
			for _, m := range l.members {
				if !noted[m.sub] {
					noted[m.sub] = true
					m.sub.lose(item.change.position, reason)
				}
			}
		}
	}
}

// check checks and delivers changes. slow reports whether it took too long for the common check, or
// failed.
func (s laneWorker) check(ctx context.Context, items []laneItem) (slow bool, err error) {
	err = retry(ctx, func() error {
		release, err := s.takeSlowTurn(ctx, s.ln.pair.table)
		if err != nil {
			return err
		}
		defer release()
		b := &batch{s: s.Stream, lane: s.ln, diverted: map[pair]diversion{}}
		for i := range items {
			b.matched = append(b.matched, newMatchedChange(&items[i].change, i, items[i].listeners))
		}
		began := time.Now()
		err = b.run(ctx)
		slow = len(b.diverted) > 0 || time.Since(began) > tableBudget/2
		return err
	})
	return slow, err
}

// slowChecks is the maximum number of checks at the same time in lanes, and in replays whose
// policies are slow. Each needs a connection of the pool.
const slowChecks = 3

// takeSlowTurn waits for a turn to make a slow check of a table. The checks of one table leave a
// turn to others.
func (s *Stream) takeSlowTurn(ctx context.Context, table uint32) (release func(), err error) {
	conns := int(s.o.Pool.Pgx().Config().MaxConns)
	all := max(1, min(slowChecks, conns-2)) // not those of the common check and of replays
	return s.turns.Take(ctx, Turn{"table " + strconv.Itoa(int(table)), max(1, all-1)}, Turn{"slow", all})
}

// fail handles the error of a pair's check. The common check leaves the pair's changes to its lane,
// and a replay repeats a check that was slow, with more time. Otherwise they are lost.
func (b *batch) fail(p pair, err error, reason string) {
	slow := errors.Is(err, errBudget) || pool.IsCode(err, "57014")
	switch {
	case b.patient():
	case b.replay == nil:
		// A locked table is not slow: its users return to the common check once it is unlocked.
		b.diverted[p] = diversion{slow: !errors.Is(err, errBudget) && !isLocked(err)}
		return
	case slow, isLocked(err):
		b.slow = p.table
		return
	}
	if slow && reason == reasonPolicy {
		reason = reasonSlow
	}
	b.s.metrics.losses.WithLabelValues(reason).Inc()
	t := b.tables[p.table]
	b.diverted[p] = diversion{lost: reason + ": " + t.schema + "." + t.name}
	b.s.o.Log.Warn("changes of a table were lost for a user", "reason", reason, "schema", t.schema, "table", t.name,
		"role", p.user.Value().role, "error", err)
}

// divert adds a change to the lane of listeners of one pair, or notes that it was lost.
func (b *batch) divert(c *matchedChange, p pair, listeners []listener) {
	why := b.diverted[p]
	var ln *lane
	lost := why.lost
	switch {
	case lost != "":
	case b.only != nil: // the lane may have later changes
		lost = reasonClaims
	default:
		if ln = b.s.lanes.add(p, why, laneItem{b.items[c.index], listeners}); ln == nil {
			lost = reasonQueue
		}
	}
	if lost != why.lost {
		b.s.metrics.losses.WithLabelValues(lost).Inc()
	}
	for _, l := range listeners {
		for _, m := range l.members {
			if ln != nil {
				m.sub.await(ln, c.position)
			} else {
				m.sub.lose(c.position, lost)
			}
		}
	}
}
