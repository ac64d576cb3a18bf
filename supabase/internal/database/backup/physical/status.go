package physical

import (
	"math"
	"sync/atomic"
	"time"
)

// Status is what a continuous backup knows about its store. Its methods are
// safe for concurrent use.
type Status struct {
	looked  atomic.Bool  // the store was listed
	backup  atomic.Int64 // end of the newest good backup, in ns since 1970; 0 for none
	shipped atomic.Int64 // when all waiting WAL was stored, in ns since 1970; 0 for never
}

// forget makes the status that of a store that was not listed.
func (s *Status) forget() {
	s.looked.Store(false)
	s.backup.Store(0)
}

// BackupAge returns the seconds since the newest good backup was complete. It is
// infinite if the store has none. ok is false until the store was listed.
func (s *Status) BackupAge(now time.Time) (seconds float64, ok bool) {
	return ageOf(now, s.backup.Load()), s.looked.Load()
}

// MaxAge returns the age from which the newest good backup is too old: a day, or the time between
// two backups if that is longer, and an hour for making the next.
func MaxAge(every time.Duration) time.Duration { return max(24*time.Hour, every) + time.Hour }

// Good reports whether the store has a good backup that is not too old.
func (s *Status) Good(now time.Time, every time.Duration) bool {
	age, ok := s.BackupAge(now)
	return ok && age < MaxAge(every).Seconds()
}

// ShippedAge returns the seconds since all waiting WAL was stored. It is infinite
// if that never succeeded.
func (s *Status) ShippedAge(now time.Time) float64 { return ageOf(now, s.shipped.Load()) }

func ageOf(now time.Time, then int64) float64 {
	if then == 0 {
		return math.Inf(1)
	}
	return now.Sub(time.Unix(0, then)).Seconds()
}
