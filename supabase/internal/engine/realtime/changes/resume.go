package changes

import (
	"context"
	"slices"
)

// attach waits until the stream is connected and notes that sub gets the changes of this
// connection.
func (s *Stream) attach(ctx context.Context, sub *subscriber) error {
	for {
		if err := s.Wait(ctx); err != nil {
			return err
		}
		s.mu.Lock()
		live := s.state == nil // it may have been lost since
		if live {
			sub.since = s.count
		}
		s.mu.Unlock()
		if live {
			return nil
		}
	}
}

// resume makes c the present connection, which cancel ends. The subscribers that got changes of an
// earlier connection lost some, unless c continues it.
func (s *Stream) resume(c *connection, cancel context.CancelFunc) {
	s.mu.Lock()
	s.count++
	if !c.continued {
		s.broken = s.count
	}
	s.state, s.restart, s.names, s.slot = nil, cancel, c.publications, c.slot
	s.notify()
	s.mu.Unlock()
	missed := s.registry.all()
	if missed = slices.DeleteFunc(missed, func(sub *subscriber) bool { return !s.misses(sub) }); len(missed) > 0 {
		s.metrics.losses.WithLabelValues(reasonConnection).Inc()
	}
	for _, sub := range missed {
		sub.lose(s.passed.Load()+1, reasonConnection)
	}
}

// misses reports whether a subscriber did not get all changes between its connection and the
// present one, and moves it to the present one.
func (s *Stream) misses(sub *subscriber) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub.since == 0 || sub.since >= s.broken {
		return false
	}
	sub.since = s.count
	return true
}

// loseAll notes that all live subscribers lost changes after those that were checked.
func (s *Stream) loseAll(reason string) {
	s.metrics.losses.WithLabelValues(reason).Inc()
	for _, sub := range s.registry.all() {
		s.mu.Lock()
		live := sub.since > 0
		s.mu.Unlock()
		if live {
			sub.lose(s.passed.Load()+1, reason)
		}
	}
}
