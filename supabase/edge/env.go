package edge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
)

// Env is the environment of one call. Use it only until the call and its work for WaitUntil are
// done.
type Env struct {
	Function    string       // the function's name in the URL
	ExecutionID string       // identifies this call in replies and logs
	Region      string       // of the host: the value of SB_REGION, or "local"
	Caller      Caller       // verified caller; Service for scheduled work and jobs
	Traceparent string       // W3C trace context of the call, "" for none; HTTP, Upload and Remove send it on
	Log         *slog.Logger // adds the function and the execution id

	host   Host
	client string      // address of the client, only for the host
	reply  http.Header // of the reply, in a function of JSON
}

// Host implements Env: functions/host on the stack, edgetest in tests.
type Host interface {
	// Now returns the time, which tests can set.
	Now() time.Time
	// Secret returns a variable of the environment, or "".
	Secret(name string) string
	// Tx runs fn in a transaction with the role and claims of a caller; see Env.Tx.
	Tx(ctx context.Context, as Caller, fn func(pgx.Tx) error) error
	// Batch sends the statements as one transaction in one round trip; see Batch.
	Batch(ctx context.Context, as Caller, b *pgx.Batch) error
	// Add adds the statements that store durable work: a Notice or a JobCall.
	Add(b *pgx.Batch, w Durable) error
	// CleanImage removes the metadata of a picture; see Env.CleanImage.
	CleanImage(content []byte) (clean []byte, contentType string, ok bool)
	// Limit adds the statement that counts a call of a client and fails above the limit; see
	// Env.Limit.
	Limit(ctx context.Context, b *pgx.Batch, client, name string, most int, per time.Duration) error
	// Network returns a pseudonym of a client's network; see Env.Network.
	Network(ctx context.Context, client string) (string, error)
	// WaitUntil runs work after the reply; see Env.WaitUntil.
	WaitUntil(env *Env, work func(context.Context) error)
	// Key returns a secret key of the installation; see Env.Key.
	Key(ctx context.Context, name string) ([]byte, error)
	// Span begins a span of a trace; see Env.Span. traceparent is its W3C trace context, "" while
	// traces are off. client says that the span is a request to another server.
	Span(ctx context.Context, name string, client bool) (inside context.Context, traceparent string, end func(error))
}

// NewEnv returns the environment of a call. Only hosts call it. client is the network address of
// the caller, which functions cannot read.
func NewEnv(host Host, e Env, client string) *Env {
	e.host, e.client = host, client
	if e.Log == nil {
		e.Log = slog.New(slog.DiscardHandler)
	}
	return &e
}

// Header returns the headers of the reply of a function that JSON made. Set them before it returns.
// A Handler uses its ResponseWriter instead.
func (e *Env) Header() http.Header {
	if e.reply == nil {
		e.reply = http.Header{}
	}
	return e.reply
}

// Span begins a span of the call's trace, if traces are on. Work that gets the returned context,
// such as a transaction, is below it. end ends the span; an error marks it as failed. The name must
// not hold personal data.
func (e *Env) Span(ctx context.Context, name string) (inside context.Context, end func(error)) {
	inside, _, end = e.host.Span(ctx, name, false)
	return inside, end
}

// HTTP returns a client for requests to other servers. It passes the call's trace on and makes a
// span of each request, which names the method and the host only. A request takes 30 s at most, its
// body included.
func (e *Env) HTTP() *http.Client {
	return &http.Client{Transport: traced{e, http.DefaultTransport}, Timeout: httpTimeout}
}

// httpTimeout bounds a request of Env.HTTP.
const httpTimeout = 30 * time.Second

// traced is a transport that makes spans of requests.
type traced struct {
	env  *Env
	next http.RoundTripper
}

// RoundTrip is part of http.RoundTripper. The span ends with the header of the reply.
func (t traced) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, traceparent, end := t.env.host.Span(r.Context(), r.Method+" "+r.URL.Host, true)
	r = r.Clone(ctx)
	if traceparent = cmp.Or(traceparent, t.env.Traceparent); traceparent != "" {
		r.Header.Set("Traceparent", traceparent)
	}
	res, err := t.next.RoundTrip(r)
	failure := err
	if err == nil && res.StatusCode >= http.StatusInternalServerError {
		failure = errServer
	}
	end(failure)
	return res, err
}

var errServer = errors.New("the server failed")

// Now returns the time, which tests can set.
func (e *Env) Now() time.Time { return e.host.Now() }

// Get returns a variable of the environment or a secret, or "". The names of Supabase are set:
// SUPABASE_URL, SUPABASE_ANON_KEY, SUPABASE_SERVICE_ROLE_KEY, SUPABASE_DB_URL, SB_REGION,
// SB_EXECUTION_ID.
func (e *Env) Get(name string) string {
	switch name {
	case "SB_EXECUTION_ID":
		return e.ExecutionID
	case "SB_REGION":
		return e.Region
	}
	return e.host.Secret(name)
}

// Tx runs fn in one database transaction as a caller, such as env.Caller or Service. The
// transaction has the role of the caller, and row level security can read the claims. Tx commits if
// fn returns nil. It rolls back and returns the error of fn otherwise.
func (e *Env) Tx(ctx context.Context, as Caller, fn func(tx pgx.Tx) error) error {
	return e.host.Tx(ctx, as, fn)
}

// Enqueue adds one of the jobs of the function in tx. The job exists if the transaction commits,
// and not otherwise. It survives restarts and is repeated for more than a week after errors. args
// become JSON. The transaction must run as Service.
func (e *Env) Enqueue(ctx context.Context, tx pgx.Tx, job string, args any, options ...JobOption) error {
	return e.add(ctx, tx, e.jobCall(job, args, options))
}

// jobCall returns one of the jobs of the function with its options.
func (e *Env) jobCall(job string, args any, options []JobOption) JobCall {
	call := JobCall{Function: e.Function, Job: job, Args: args, Traceparent: e.Traceparent}
	for _, set := range options {
		set(&call)
	}
	return call
}

// Notify sends a notice to the administrators through every configured channel after the
// transaction commits. Each channel has its own job, so a failing channel does not delay the
// others. The transaction must run as Service.
func (e *Env) Notify(ctx context.Context, tx pgx.Tx, n Notice) error {
	return e.add(ctx, tx, e.traced(n))
}

// traced returns a notice with the trace context of the call.
func (e *Env) traced(n Notice) Notice {
	n.Traceparent = e.Traceparent
	return n
}

// add stores durable work as part of a transaction that is in progress.
func (e *Env) add(ctx context.Context, tx pgx.Tx, w Durable) error {
	var b pgx.Batch
	if err := e.host.Add(&b, w); err != nil {
		return err
	}
	return tx.SendBatch(ctx, &b).Close()
}

// CleanImage returns a picture without its metadata (place, time, camera) and with its content
// type. ok is false if the content is not a picture that can be read: clean is then the unchanged
// content. Decoding may need 256 MB of memory, so call it in a Job, one picture at a time.
func (e *Env) CleanImage(content []byte) (clean []byte, contentType string, ok bool) {
	return e.host.CleanImage(content)
}

// WaitUntil runs work after the reply. A crash loses the work, and a shutdown waits for it only for
// a limited time: use Enqueue for work that must be done. Errors and panics are logged.
func (e *Env) WaitUntil(work func(ctx context.Context) error) { e.host.WaitUntil(e, work) }

// Key returns 32 secret bytes for keyed hashes. The first use of a name creates them; later calls
// return the same bytes, on all replicas and after restarts.
func (e *Env) Key(ctx context.Context, name string) ([]byte, error) { return e.host.Key(ctx, name) }

// Limit counts a call of the client under a name. It returns an *Error with status 429 and
// Retry-After if the client has made more than most calls in a period. The count is in the database
// and covers all replicas. It identifies the client by a keyed hash of its address with a salt that
// is deleted each day; the address is not stored.
func (e *Env) Limit(ctx context.Context, name string, most int, per time.Duration) error {
	b := e.Batch(Service)
	b.Limit(ctx, name, most, per)
	return b.Send(ctx)
}

// Network returns a pseudonym of the caller's network: the hash with which Limit counts. It changes
// each day and cannot be led back to an address later. It is "" for programs of this machine.
func (e *Env) Network(ctx context.Context) (string, error) { return e.host.Network(ctx, e.client) }

// Durable is work that a transaction stores and that runs after its commit: a Notice or a JobCall.
type Durable interface{ durable() }

func (Notice) durable()  {}
func (JobCall) durable() {}

// JobCall is one job of a function with its arguments.
type JobCall struct {
	Function    string
	Job         string    // a key of Func.Jobs
	Args        any       // becomes JSON
	Unique      string    // see Unique
	Priority    int       // see Priority; 0 means the Job's
	MaxAttempts int       // see MaxAttempts; 0 means the Job's
	At          time.Time // see At; zero means at once
	Traceparent string    // W3C trace context of the call that adds the job, "" for none
}

// JobOption changes how Enqueue adds a job.
type JobOption func(*JobCall)

// Unique adds the job only if no job of this name and key waits or runs. If there is one, Enqueue
// adds nothing and returns nil.
func Unique(key string) JobOption { return func(c *JobCall) { c.Unique = key } }

// Priority sets the order of waiting jobs, from 1, the first, to 4.
func Priority(n int) JobOption { return func(c *JobCall) { c.Priority = n } }

// MaxAttempts sets after how many failed attempts the job is discarded. Without it, that takes more
// than a week.
func MaxAttempts(n int) JobOption { return func(c *JobCall) { c.MaxAttempts = n } }

// At makes the job run at a time and not before.
func At(t time.Time) JobOption { return func(c *JobCall) { c.At = t } }

// Notice is a message to the administrators. It leaves the stack by mail or webhook, so it must not
// identify a person: no free text from users, except words that several of them used.
type Notice struct {
	Kind  string `json:"kind"`    // machine-readable event name, such as "order.received"
	Title string `json:"subject"` // one line
	Facts []Fact `json:"facts,omitempty"`
	Link  *Row   `json:"link,omitempty"` // the row that the notice is about, if any; the stack makes the address of it

	Traceparent string `json:"-"` // W3C trace context of the call that sends it, "" for none; Notify sets it
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
