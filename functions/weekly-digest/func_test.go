package weeklydigest

import (
	"testing"
	"time"
)

// 2026-11-16 and 2026-11-23 are Mondays.
func TestWeekEnd(t *testing.T) {
	for now, want := range map[string]string{
		// started early
		"2026-11-23T06:00:00Z": "2026-11-23T06:00:00Z", "2026-11-23T05:59:59.5Z": "2026-11-23T06:00:00Z",
		"2026-11-23T05:59:58Z": "2026-11-16T06:00:00Z", "2026-11-23T08:59:59+03:00": "2026-11-23T06:00:00Z",
		"2026-11-26T23:00:00Z": "2026-11-23T06:00:00Z", "2026-11-22T23:59:59Z": "2026-11-16T06:00:00Z",
		"2027-01-03T12:00:00Z": "2026-12-28T06:00:00Z", // across the end of a year
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := weekEnd(at).Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", now, got, want)
		}
	}
}
