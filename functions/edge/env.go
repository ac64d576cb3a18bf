package edge

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
)

// Env is the environment of one call. It may be used until the call and the work given to WaitUntil are done.
type Env struct {
	Function    string       // the function's name in the URL
	ExecutionID string       // names this call in replies and logs
	Region      string       // where the host runs; "local" unless SB_REGION says otherwise
	Caller      Caller       // who calls, verified; of scheduled work and jobs the service
	Traceparent string       // the call's W3C trace context, "" for none; Supabase, Upload and Remove carry it on
	Log         *slog.Logger // carries function and execution id

	host   Host
	client string // address of the client, known to the host only
}

// Host is what stands behind Env. fnhost implements it on the stack, edgetest for tests.
type Host interface {
	// Now is the time; tests set it.
	Now() time.Time
	// Secret is a variable of the environment, "" when unset.
	Secret(name string) string
	// Tx runs fn in a transaction under the caller's role and claims; see Env.Tx.
	Tx(ctx context.Context, as Caller, fn func(pgx.Tx) error) error
	// Batch sends the statements as one transaction in one round trip; see Batch.
	Batch(ctx context.Context, as Caller, b *pgx.Batch) error
	// Add adds the statements that store durable work: a Notice or a JobCall.
	Add(b *pgx.Batch, w Durable) error
	// CleanImage removes the metadata of a picture; see Env.CleanImage.
	CleanImage(content []byte) (clean []byte, contentType string, ok bool)
	// Limit adds the statement that counts a request of a client and fails beyond the limit; see Env.Limit.
	Limit(ctx context.Context, b *pgx.Batch, client, name string, most int, per time.Duration) error
	// WaitUntil runs work after the reply; see Env.WaitUntil.
	WaitUntil(env *Env, work func(context.Context) error)
	// Key is a secret key of the installation, the same on every replica; see Env.Key.
	Key(ctx context.Context, name string) ([]byte, error)
}

// NewEnv makes the environment of a call. Only hosts call it; client is the caller's network address, which functions
// never see.
func NewEnv(host Host, e Env, client string) *Env {
	e.host, e.client = host, client
	if e.Log == nil {
		e.Log = slog.New(slog.DiscardHandler)
	}
	return &e
}

// Now is the time, which tests can set.
func (e *Env) Now() time.Time { return e.host.Now() }

// Get is a variable of the environment or a secret, "" when unset. Supabase's own names are set: SUPABASE_URL,
// SUPABASE_ANON_KEY, SUPABASE_SERVICE_ROLE_KEY, SUPABASE_DB_URL, SB_REGION, SB_EXECUTION_ID.
func (e *Env) Get(name string) string {
	switch name {
	case "SB_EXECUTION_ID":
		return e.ExecutionID
	case "SB_REGION":
		return e.Region
	}
	return e.host.Secret(name)
}

// Tx runs fn in one database transaction as env.Caller, as Service or as any other caller: its role, and its claims where
// row level security looks for them. It commits when fn returns nil; fn's error rolls back and is returned unchanged.
func (e *Env) Tx(ctx context.Context, as Caller, fn func(tx pgx.Tx) error) error {
	return e.host.Tx(ctx, as, fn)
}

// Enqueue adds one of the function's Jobs within tx: the job exists exactly if the transaction commits. It survives
// restarts and is retried for more than a week. args become JSON. The transaction must run as Service.
func (e *Env) Enqueue(ctx context.Context, tx pgx.Tx, job string, args any) error {
	return e.add(ctx, tx, JobCall{Function: e.Function, Job: job, Args: args})
}

// Notify sends a notice to the administrators through every configured channel after the transaction commits. Each channel
// has its own job, so a failing channel does not delay the others. The transaction must run as Service.
func (e *Env) Notify(ctx context.Context, tx pgx.Tx, n Notice) error { return e.add(ctx, tx, n) }

// add stores durable work as part of a transaction that is in progress.
func (e *Env) add(ctx context.Context, tx pgx.Tx, w Durable) error {
	var b pgx.Batch
	if err := e.host.Add(&b, w); err != nil {
		return err
	}
	return tx.SendBatch(ctx, &b).Close()
}

// CleanImage returns a picture without its metadata (place, time, camera) and with its content type. ok is false if the
// content is not a picture that can be read: clean is then the unchanged content. Decoding may need 256 MB of memory, so call
// it from a Job with MaxConcurrent 1.
func (e *Env) CleanImage(content []byte) (clean []byte, contentType string, ok bool) {
	return e.host.CleanImage(content)
}

// WaitUntil lets work go on after the reply, for small things that may be lost: a crash loses them, a shutdown waits for
// them for a limited time. What must not be lost belongs into Enqueue. An error or a panic is logged.
func (e *Env) WaitUntil(work func(ctx context.Context) error) { e.host.WaitUntil(e, work) }

// Key is 32 secret bytes of this installation, made at first use and the same on every replica and after every restart:
// for keyed hashes.
func (e *Env) Key(ctx context.Context, name string) ([]byte, error) { return e.host.Key(ctx, name) }

// Limit lets a client through most times in a period, counted in the database over all replicas, and returns an *Error
// with 429 and Retry-After beyond that. The client is known by a keyed hash of its address with a salt that is thrown
// away each day; the address itself is neither stored nor shown to functions.
func (e *Env) Limit(ctx context.Context, name string, most int, per time.Duration) error {
	b := e.Batch(Service)
	b.Limit(ctx, name, most, per)
	return b.Send(ctx)
}

// Durable is work that a transaction stores and that runs after its commit: a Notice or a JobCall.
type Durable interface{ durable() }

func (Notice) durable()  {}
func (JobCall) durable() {}

// JobCall is one job of a function with its arguments.
type JobCall struct {
	Function string
	Job      string // a key of Func.Jobs
	Args     any    // becomes JSON
}

// Notice is a message to the administrators. It leaves the stack by mail or webhook, so it must not identify a person: no
// free text from users, except words that several of them used.
type Notice struct {
	Kind  string `json:"kind"`    // machine-readable event name, such as "order.received"
	Title string `json:"subject"` // one line
	Facts []Fact `json:"facts,omitempty"`
	Link  *Row   `json:"link,omitempty"` // the row that the notice is about, if any; the stack makes the address of it
}

// Fact is one line of a notice.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Row identifies a table row by the value of one column.
type Row struct {
	Table  string `json:"table"` // in schema public
	Column string `json:"column"`
	Value  string `json:"value"`
}
