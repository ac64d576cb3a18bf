// Package edge is what a function may see: the shape of a function, the environment of one call, and helpers for bodies,
// replies, streams and errors. A function is a folder under functions/ with a variable Func of type edge.Func and a line
// in functions.All; the host (in process, in a child process, or in a container of its own) does the rest.
//
// Functions import it, hosts and edgetest implement Host. It imports nothing of ours.
package edge

import (
	"context"
	"net/http"
	"time"
)

// Func is a function: how it may be called, its limits, and what it does. The zero value of every limit is a sensible one.
type Func struct {
	// Methods that the function answers; others get 405. Empty means every method, OPTIONS too, as with Supabase.
	// When it is set without OPTIONS, the host answers preflights with CORSHeaders and adds them to the replies.
	Methods []string

	// NoVerifyJWT opens the function to callers without a token or key (the CLI's --no-verify-jwt).
	NoVerifyJWT bool

	Timeout       time.Duration // until the first byte of the reply, then 504; 0 means 150 s, Supabase's own
	MaxBody       int64         // bytes of the request's body, then 413; 0 means 10 MiB
	MaxConcurrent int           // calls running at once, per process; 0 means 100
	MaxWaiting    int           // further calls that wait up to MaxWait for their turn, then 503; 0 means as many as may run
	MaxWait       time.Duration // how long they wait; 0 means 2 s

	Handler Handler // answers calls by HTTP; nil for a function that only runs by its schedule or its jobs

	// Refused answers in the handler's place what the host does not let in or ends: 413, 503, 504 or 546. It sends that
	// status and returns true, or leaves the reply, in Supabase's own JSON, to the host. nil leaves all to the host.
	Refused func(w http.ResponseWriter, r *http.Request, status int) bool

	Schedule string // five-field cron expression in UTC, such as "0 6 * * 1"; "" for none
	Run      Task   // what the schedule runs: once per due time, whatever the number of replicas

	Jobs map[string]Job // background jobs of this function, by the name that Env.Enqueue uses
}

// Handler answers one call. An *Error that it returns is sent as it says; any other error, or a panic, becomes 500
// WORKER_ERROR with the execution id, and the error is only logged; once the reply has begun, the connection is broken off,
// so that half a reply does not look whole. The request's context ends with the client or the time limit.
type Handler func(w http.ResponseWriter, r *http.Request, env *Env) error

// Task is scheduled work. An error makes it run again later, with growing pauses.
type Task func(ctx context.Context, env *Env) error

// Job is durable background work.
type Job struct {
	// Run does the work. args is the JSON of what was enqueued. After an error it runs again, with growing pauses for more
	// than a week, so it must be safe to repeat. Snooze makes it run again without counting as a failure.
	Run func(ctx context.Context, env *Env, args []byte) error

	MaxConcurrent int // jobs of this name that run at once, per process; 0 sets no limit of its own
}

// Snooze returns an error that makes a job run again after a pause. It does not count as a failed attempt.
func Snooze(after time.Duration) error { return SnoozeError{after} }

// SnoozeError is the error of Snooze.
type SnoozeError struct{ After time.Duration }

func (e SnoozeError) Error() string { return "snoozed for " + e.After.String() }

// Defaults of Func's limits.
const (
	DefaultTimeout       = 150 * time.Second
	DefaultMaxBody       = 10 << 20
	DefaultMaxConcurrent = 100
	DefaultMaxWait       = 2 * time.Second
)

// WithDefaults returns f with every unset limit filled in.
func (f Func) WithDefaults() Func {
	if f.Timeout == 0 {
		f.Timeout = DefaultTimeout
	}
	if f.MaxBody == 0 {
		f.MaxBody = DefaultMaxBody
	}
	if f.MaxConcurrent == 0 {
		f.MaxConcurrent = DefaultMaxConcurrent
	}
	if f.MaxWaiting == 0 {
		f.MaxWaiting = f.MaxConcurrent
	}
	if f.MaxWait == 0 {
		f.MaxWait = DefaultMaxWait
	}
	return f
}
