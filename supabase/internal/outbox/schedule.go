package outbox

import (
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"
)

// completedStay is how long done jobs are kept. A schedule's done job is what tells a restart that it need not catch up.
const completedStay = 8 * 24 * time.Hour

// catchUp is how old a missed due time may be to be made up for at start; less than completedStay, so that a time that
// was served is always remembered.
const catchUp = 7*24*time.Hour + time.Hour

// schedules makes River's periodic jobs. Each adds a job for the latest due time, at that time and also when a leader is
// elected; the job is unique by function and due time, so that each time is served once and none is missed because the
// server was down. What was due before the installation existed is not made up for; one that is said to be of the future
// was made while the clock was ahead, and may have been there at any time.
//
// crons are expressions by the schedule's name; turn makes the job of a due time.
func schedules(kind string, crons map[string]string, installed time.Time, turn func(name string, due time.Time) river.JobArgs) ([]*river.PeriodicJob, error) {
	var jobs []*river.PeriodicJob
	for name, expression := range crons {
		s, err := cron.ParseStandard("TZ=UTC " + expression)
		if err != nil {
			return nil, fmt.Errorf("schedule of %s: %w", name, err)
		}
		jobs = append(jobs, river.NewPeriodicJob(s, func() (river.JobArgs, *river.InsertOpts) {
			now := time.Now()
			due, ok := lastDue(s, now)
			if !ok || due.Before(installed) && installed.Before(now.Add(wrongClock)) {
				return nil, nil
			}
			return turn(name, due), nil
		}, &river.PeriodicJobOpts{ID: kind + "_" + name, RunOnStart: true}))
	}
	return jobs, nil
}

// lastDue is the latest time, up to now, at which the schedule was due. River wakes a little early or late, so a due time
// of the coming second counts.
func lastDue(s cron.Schedule, now time.Time) (time.Time, bool) {
	now = now.UTC().Add(time.Second)
	// Look back in growing steps: an hourly schedule is found in the last hours, a weekly one in the last week.
	for back := time.Hour; ; back *= 4 {
		back = min(back, catchUp)
		var last time.Time
		for t := s.Next(now.Add(-back)); !t.IsZero() && !t.After(now); t = s.Next(t) {
			last = t
		}
		if !last.IsZero() {
			return last, true
		}
		if back == catchUp {
			return time.Time{}, false
		}
	}
}
