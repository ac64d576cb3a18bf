package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
)

// Chore is what an installation does for itself at certain times, once for all replicas.
type Chore struct {
	Name string
	Cron string // times in UTC
	Do   func(context.Context) error
}

// choreTimeout bounds one attempt: a chore may walk over all that is stored.
const choreTimeout = time.Hour

// chore is one turn of a Chore.
type chore struct {
	Name string    `json:"name"`
	Due  time.Time `json:"due"`
}

func (chore) Kind() string { return "chore" }

func (chore) InsertOpts() river.InsertOpts {
	// After these attempts, which take two hours, the next turn will do.
	return river.InsertOpts{Queue: choreQueue, MaxAttempts: 9, UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

// Chores adds work that is done regularly. Call it before Start.
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
	return fmt.Errorf("this process does not know the chore %s", job.Args.Name)
}
