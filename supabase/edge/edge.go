// Package edge is the API of edge functions in Go. A function is a variable of type Func. It has
// its own folder below functions/, and the program gives all functions to the stack by their names:
//
//	var Func = edge.Func{JSON: edge.JSON(greet)}
//
//	type person struct {
//		Name string `json:"name" validate:"required,max=80"`
//	}
//
//	type greeting struct {
//		Message string `json:"message"`
//	}
//
//	func greet(r *http.Request, env *edge.Env, p person) (greeting, error) {
//		return greeting{"Hello " + p.Name}, nil
//	}
//
// The stack serves it at /functions/v1/NAME. It verifies the caller's token, applies the limits of
// Func, answers CORS preflight requests and logs failures.
//
// # Requests and replies
//
// JSON makes a handler of typed JSON, which also describes itself. A Handler reads and writes
// anything else. ReadJSON, ReadForm and ReadBody read a body; WriteJSON sends a reply; NewEvents
// starts a stream of server-sent events; AcceptWebSocket upgrades to a WebSocket. A handler returns
// an error instead of writing an error reply: an *Error, made by Errorf, is sent to the caller, any
// other error becomes status 500 and is only logged.
//
// # The environment
//
// Env is the environment of one call. Env.Caller is the verified caller, Env.Get reads variables
// and secrets, Env.Now is the time, Env.Log the log. Env.Limit counts calls per client.
//
// # The database
//
// Env.Tx runs a transaction as a caller, so row level security applies: env.Caller has the
// permissions of the caller, Service has all. Env.Batch sends the statements of one transaction in
// one round trip. Env.Upload, Env.Replace, Env.Download and Env.Remove work with storage. The
// package supabaseclient makes a client of supabase-go from an Env.
//
// # Work after the reply
//
// Env.Enqueue adds one of Func.Jobs as a part of a transaction. The job survives restarts and is
// repeated until it succeeds. Env.Notify sends a notice to the administrators in the same way.
// Env.WaitUntil runs work that may be lost in a crash. Func.Schedule and Func.Run are for work at
// fixed times.
//
// # Tests
//
// The package edgetest runs a function in a test without a server.
//
// edge imports nothing of ours, so functions do not depend on the stack. The hosts of functions and
// edgetest implement Host.
package edge

import (
	"cmp"
	"context"
	"net/http"
	"time"
)

// Func is a function: its methods, limits, handler, schedule and jobs. The zero value of a limit
// means its default.
type Func struct {
	// Methods that the handler answers; others get 405. Empty means all methods, OPTIONS too, as
	// with Supabase. If it is set and lacks OPTIONS, the host answers preflight requests and adds
	// CORSHeaders to all replies.
	Methods []string

	// NoVerifyJWT opens the function to callers without a token or key (the CLI's --no-verify-jwt).
	NoVerifyJWT bool

	// MaxBodyMemory bounds the bodies of concurrent calls together, in bytes, for functions that
	// read them into memory. Further calls wait up to MaxWait. Bodies up to 64 KiB do not count. 0
	// means no limit.
	MaxBodyMemory int64

	Timeout       time.Duration // until the first byte of the reply, then 504; 0 means 150 s, as with Supabase
	MaxBody       int64         // bytes of the body of a request, then 413; 0 means 10 MiB
	MaxConcurrent int           // concurrent calls per process; 0 means 100
	MaxWaiting    int           // further calls that wait up to MaxWait, then 503; 0 means MaxConcurrent
	MaxWait       time.Duration // longest wait; 0 means 2 s

	// JSON answers calls with typed JSON; the function edge.JSON makes it. Methods is POST then
	// unless it is set. With a Handler too, the Handler answers all calls, and JSON only describes
	// the JSON calls among them.
	JSON *Endpoint

	Handler Handler // answers HTTP calls; nil for a function with JSON, or with only a schedule or jobs

	// Refused answers calls that the host refuses or ends: 413, 503, 504 or 546. It sends a reply
	// with that status and returns true, or returns false. The host then replies with the JSON of
	// Supabase, as it does if Refused is nil.
	Refused func(w http.ResponseWriter, r *http.Request, status int) bool

	Schedule string // five-field cron expression in UTC, such as "0 6 * * 1"; "" for none
	Run      Task   // runs at the times of Schedule, on one replica

	// Health is called before a deployed version gets its first call, and must return within 10 s.
	// After an error the version is refused, and the one before it goes on.
	Health Task

	Jobs map[string]Job // background jobs of this function, by the name that Env.Enqueue uses
}

// Handler answers one call. The host sends an *Error that it returns as the reply. For any other
// error or a panic the host sends status 500 with code WORKER_ERROR and the execution id, and logs
// the error. If the reply has begun, the host closes the connection, so that the client does not
// take a part for the whole. The context of the request ends when the client disconnects or the
// time limit passes.
type Handler func(w http.ResponseWriter, r *http.Request, env *Env) error

// Task is scheduled work. After an error it runs again, with growing pauses.
type Task func(ctx context.Context, env *Env) error

// Job is durable background work.
type Job struct {
	// Run does the work. args is the JSON of what was enqueued. After an error it runs again, with
	// growing pauses for more than a week, so it must be safe to repeat. Snooze makes it run again
	// without counting as a failure.
	Run func(ctx context.Context, env *Env, args []byte) error

	MaxConcurrent int // concurrent jobs of this name per process; 0 means no separate limit
	Priority      int // order of waiting jobs, from 1, the first, to 4; 0 means 1
	MaxAttempts   int // failed attempts until the job is discarded; 0 means 200, more than a week
}

// Snooze returns an error that makes a job run again after a pause. It does not count as a failed
// attempt.
func Snooze(after time.Duration) error { return SnoozeError{after} }

// SnoozeError is the error of Snooze.
type SnoozeError struct{ After time.Duration }

func (e SnoozeError) Error() string { return "snoozed for " + e.After.String() }

// Defaults of the limits of Func.
const (
	DefaultTimeout       = 150 * time.Second
	DefaultMaxBody       = 10 << 20
	DefaultMaxConcurrent = 100
	DefaultMaxWait       = 2 * time.Second
)

// WithDefaults returns f with every unset limit filled in.
func (f Func) WithDefaults() Func {
	if f.Handler == nil && f.JSON != nil {
		f.Handler = f.JSON.Serve
		if len(f.Methods) == 0 {
			f.Methods = []string{http.MethodPost}
		}
	}
	f.Timeout = cmp.Or(f.Timeout, DefaultTimeout)
	f.MaxBody = cmp.Or(f.MaxBody, DefaultMaxBody)
	f.MaxConcurrent = cmp.Or(f.MaxConcurrent, DefaultMaxConcurrent)
	f.MaxWaiting = cmp.Or(f.MaxWaiting, f.MaxConcurrent)
	f.MaxWait = cmp.Or(f.MaxWait, DefaultMaxWait)
	return f
}
