package changes

import (
	"context"
	"time"
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

// resume makes c the present connection, which cancel ends. It calls Resumed of the subscribers
// that got changes of an earlier connection.
func (s *Stream) resume(c *connection, cancel context.CancelFunc) {
	var missed []*subscriber
	s.mu.Lock()
	s.count++
	for _, sub := range s.registry.all() {
		if sub.since > 0 && !c.continued {
			sub.since = s.count
			missed = append(missed, sub)
		}
	}
	s.state, s.restart, s.names, s.slot = nil, cancel, c.publications, c.slot
	s.notify()
	s.mu.Unlock()
	if len(missed) > 0 {
		s.metrics.losses.WithLabelValues(reasonConnection).Inc()
	}
	callResumed(missed, reasonConnection)
}

// notifyMissed calls Resumed of all live subscribers after changes were lost.
func (s *Stream) notifyMissed(reason string) {
	s.metrics.losses.WithLabelValues(reason).Inc()
	var missed []*subscriber
	s.mu.Lock()
	for _, sub := range s.registry.all() {
		if sub.since > 0 {
			missed = append(missed, sub)
		}
	}
	s.mu.Unlock()
	callResumed(missed, reason)
}

func callResumed(subs []*subscriber, reason string) {
	for _, sub := range subs {
		if sub.resumed != nil && !sub.closed.Load() {
			sub.resumed(reason)
		}
	}
}

// tellEvery is how often a subscriber is told at most that it lost changes.
const tellEvery = time.Second

// tell calls Resumed after the subscriber has lost changes, now or, if it was called a moment ago,
// after tellEvery.
func (sub *subscriber) tell(reason string) {
	sub.telling.Lock()
	defer sub.telling.Unlock()
	wait := tellEvery - time.Since(sub.told)
	switch {
	case sub.resumed == nil || sub.waiting:
	case wait <= 0:
		sub.told = time.Now()
		callResumed([]*subscriber{sub}, reason)
	default:
		sub.waiting = true
		time.AfterFunc(wait, func() {
			sub.telling.Lock()
			defer sub.telling.Unlock()
			sub.waiting, sub.told = false, time.Now()
			callResumed([]*subscriber{sub}, reason)
		})
	}
}

// tellAll tells the subscribers of lost changes.
func tellAll(items []laneItem, reason string) {
	told := map[*subscriber]bool{}
	for _, item := range items {
		for _, l := range item.listeners {
			for _, m := range l.members {
				if !told[m.sub] {
					told[m.sub] = true
					m.sub.tell(reason)
				}
			}
		}
	}
}
