package physical

import (
	"math"
	"testing"
	"time"
)

// TestStatus checks what is known before and after the first backup.
func TestStatus(t *testing.T) {
	var s Status
	now := time.Now()
	if _, ok := s.BackupAge(now); ok || !math.IsInf(s.ShippedAge(now), 1) {
		t.Error("a store that was not listed has a backup")
	}
	s.looked.Store(true)
	if s.Good(now, time.Hour) {
		t.Error("an empty store has a good backup")
	}
	if age, ok := s.BackupAge(now); !ok || !math.IsInf(age, 1) {
		t.Errorf("an empty store: %v %t", age, ok)
	}
	s.backup.Store(now.Add(-time.Minute).UnixNano())
	if age, ok := s.BackupAge(now); !ok || age != 60 {
		t.Errorf("after a backup: %v %t", age, ok)
	}
	for age, good := range map[time.Duration]bool{time.Hour: true, 24 * time.Hour: true, 26 * time.Hour: false} {
		s.backup.Store(now.Add(-age).UnixNano())
		if s.Good(now, time.Minute) != good || !s.Good(now, 48*time.Hour) {
			t.Errorf("a backup of %s ago is good: %t", age, !good)
		}
	}
}
