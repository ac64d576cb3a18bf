package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
)

// Chore is maintenance work of the installation itself. It runs by a schedule, once for all
// replicas.
type Chore struct {
	Name string
	Cron string // times in UTC
	Do   func(context.Context) error
}

// choreTimeout bounds one attempt. It is long because a chore may read all stored files.
const choreTimeout = time.Hour

// chore is the job of one due time of a Chore.
type chore struct {
	Name string    `json:"name"`
	Due  time.Time `json:"due"`
}

func (chore) Kind() string { return "chore" }

func (chore) InsertOpts() river.InsertOpts {
	// These attempts take two hours. After that the next due time follows soon.
	return river.InsertOpts{Queue: choreQueue, MaxAttempts: 9, UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

// Chores adds scheduled work. Call it before Start.
func (b *Outbox) Chores(chores ...Chore) { b.chores = append(b.chores, chores...) }

type choreWorker struct {
	river.WorkerDefaults[chore]
	chores []Chore
}

func (choreWorker) Timeout(*river.Job[chore]) time.Duration { return choreTimeout }

func (w choreWorker) Work(ctx context.Context, job *river.Job[chore]) error {
	for _, c := range w.chores {
		if c.Name == job.Args.Name {
			return c.Do(ctx)
		}
	}
	return fmt.Errorf("unknown chore %s", job.Args.Name)
}
