package jobs

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"
)

// keepCompleted is how long completed jobs are kept. A restart knows from them which due times have
// been served.
const keepCompleted = 8 * 24 * time.Hour

// catchUp is the age up to which a start makes up for a missed due time. It is less than
// keepCompleted, so the jobs of all these times are still known.
const catchUp = 7*24*time.Hour + time.Hour

// schedules returns River's periodic jobs. Each adds a job for the latest due time, at that time
// and whenever a leader is elected. The job is unique by name and due time. So each time is served
// once, and none is missed because the server was down. Due times before the installation are
// skipped. If the time of the installation is in the future, the clock was ahead then and the real
// time is unknown; nothing is skipped.
//
// crons maps names to cron expressions. newJob returns the job for a due time. The ids of the jobs
// are in added when River has asked for the latest due time.
func schedules(kind string, crons map[string]string, installed time.Time, added *idSet,
	newJob func(name string, due time.Time) river.JobArgs) ([]*river.PeriodicJob, error) {
	var jobs []*river.PeriodicJob
	for name, expression := range crons {
		id := kind + "_" + name
		s, err := cron.ParseStandard("TZ=UTC " + expression)
		if err != nil {
			return nil, fmt.Errorf("schedule of %s: %w", name, err)
		}
		jobs = append(jobs, river.NewPeriodicJob(s, func() (river.JobArgs, *river.InsertOpts) {
			added.add(id)
			now := time.Now()
			due, ok := lastDue(s, now)
			if !ok || due.Before(installed) && installed.Before(now.Add(maxSkew)) {
				return nil, nil
			}
			return newJob(name, due), nil
		}, &river.PeriodicJobOpts{ID: id, RunOnStart: true}))
	}
	return jobs, nil
}

// idSet is a set of ids. It is safe for concurrent use.
type idSet struct{ ids sync.Map }

func (s *idSet) add(id string)    { s.ids.Store(id, true) }
func (s *idSet) remove(id string) { s.ids.Delete(id) }

func (s *idSet) has(id string) bool {
	_, ok := s.ids.Load(id)
	return ok
}

// lastDue returns the latest due time up to now, and false if it is older than catchUp. River may
// wake up a little early, so a due time within the next second counts.
func lastDue(s cron.Schedule, now time.Time) (time.Time, bool) {
	now = now.UTC().Add(time.Second)
	// Growing steps find an hourly schedule in the last hours and a weekly one in the last week.
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

// functionSchedules returns River's periodic jobs of the functions.
func functionSchedules(crons map[string]string, installed time.Time, added *idSet) ([]*river.PeriodicJob, error) {
	return schedules("function", crons, installed, added,
		func(name string, due time.Time) river.JobArgs { return functionSchedule{name, due} })
}

// Reschedule brings River's schedules to those that the functions have now, after a reload or a
// deployment. A new or changed schedule is treated as at a start: its latest due time is made up
// for.
func (b *Outbox) Reschedule(ctx context.Context) error {
	b.mu.Lock()
	functions := b.functions // Start may set it now
	b.mu.Unlock()
	if functions == nil {
		return nil // Start reads the schedules
	}
	if b.running() == nil {
		b.endIdle() // begin reads the schedules
		return nil
	}
	installed, err := b.installed(ctx)
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.work == nil { // it was stopped just now
		b.wakeUp()
		return nil
	}
	now, changed := functions.Schedules(), map[string]string{}
	for name, expression := range now {
		if b.scheduled[name] != expression {
			changed[name] = expression
			b.work.added.remove("function_" + name)
		}
	}
	jobs, err := functionSchedules(changed, installed, &b.work.added)
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	for name, expression := range b.scheduled {
		if now[name] != expression {
			b.work.PeriodicJobs().RemoveByID("function_" + name)
		}
	}
	if _, err := b.work.PeriodicJobs().AddManySafely(jobs); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	b.scheduled = maps.Clone(now)
	return nil
}
