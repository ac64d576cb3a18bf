package changes

import "context"

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

// resume makes c the present connection, which cancel ends. It calls Resumed of the subscribers
// that got changes of an earlier connection.
func (s *Stream) resume(c *connection, cancel context.CancelFunc) {
	var missed []*subscriber
	s.mu.Lock()
	s.count++
	for _, sub := range s.registry.all() {
		if sub.since > 0 {
			sub.since = s.count
			missed = append(missed, sub)
		}
	}
	s.state, s.restart, s.names, s.slot = nil, cancel, c.publications, c.slot
	s.notify()
	s.mu.Unlock()
	callResumed(missed)
}

// notifyMissed calls Resumed of all live subscribers after changes were lost.
func (s *Stream) notifyMissed() {
	var missed []*subscriber
	s.mu.Lock()
	for _, sub := range s.registry.all() {
		if sub.since > 0 {
			missed = append(missed, sub)
		}
	}
	s.mu.Unlock()
	callResumed(missed)
}

func callResumed(subs []*subscriber) {
	for _, sub := range subs {
		if sub.resumed != nil && !sub.closed.Load() {
			sub.resumed()
		}
	}
}
