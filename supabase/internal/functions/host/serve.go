package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/tracing"

	"github.com/google/uuid"
)

// MaxBody returns the largest body that the function of a path accepts, in bytes; 0 for an unknown
// function.
func (h *Host) MaxBody(path string) int64 {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if f, ok := h.lookup(name); ok {
		return f.MaxBody
	}
	return 0
}

// ServeHTTP routes a call by the first segment of its path, authorises it, waits until it may run,
// and runs it.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if name == "_internal" {
		h.internal(w, r)
		return
	}
	if name == openAPIPath {
		h.openAPI(w, r)
		return
	}
	f, ok := h.lookup(name)
	if !ok || f.Handler == nil {
		NotFound(w)
		return
	}
	start := h.Now()
	id := uuid.Must(uuid.NewV7()).String() // only fails if the system has no entropy
	header := w.Header()
	header.Set("Sb-Request-Id", id)
	header.Set("X-Deno-Execution-Id", id)
	header.Set("X-Sb-Edge-Region", h.Region)
	r, end := h.span(r, name, id)
	out := &reply{ResponseWriter: w, header: http.Header{}, ended: end}
	h.serve(out, r, f, id)
	status := out.status()
	if out.broken {
		status = http.StatusInternalServerError
	}
	end(status)
	if h.Parent == nil {
		h.observeCall(h.Log, r, name, id, status, h.Now().Sub(start))
	}
	if out.broken {
		panic(http.ErrAbortHandler) // net/http aborts the connection; so does a ReverseProxy in between
	}
}

// observeCall counts and logs an ended call.
func (h *Host) observeCall(log *slog.Logger, r *http.Request, name, id string, status int, duration time.Duration) {
	h.metrics.observe(name, status, duration)
	attrs := []slog.Attr{slog.String("function", name), slog.String("execution_id", id),
		slog.String("method", r.Method), slog.Int("status", status), slog.Duration("duration", duration)}
	if trace := traceID(r); trace != "" {
		attrs = append(attrs, slog.String("trace", trace))
	}
	log.LogAttrs(r.Context(), levelOf(status), "function call", attrs...)
}

// span begins the span of a call. The request that it returns has the trace context of the span.
func (h *Host) span(r *http.Request, name, id string) (_ *http.Request, end func(status int)) {
	if h.Traces == nil {
		return r, func(int) {}
	}
	ctx := r.Context()
	if tracing.Traceparent(ctx) == "" { // otherwise the gateway of this process has begun the trace
		ctx = tracing.WithTraceparent(ctx, r.Header.Get("Traceparent"))
	}
	ctx, finish := h.Traces.Start(ctx, "function "+name, tracing.Server, tracing.Text("faas.name", name),
		tracing.Text("faas.invocation_id", id))
	r = r.WithContext(ctx)
	if traceparent := tracing.Traceparent(ctx); traceparent != "" {
		r.Header.Set("Traceparent", traceparent)
	}
	return r, func(status int) {
		if status >= http.StatusInternalServerError {
			finish(errFailed)
			return
		}
		finish(nil)
	}
}

// errFailed marks the span of a failed call.
var errFailed = errors.New("the call failed")

func (h *Host) serve(w *reply, r *http.Request, f *function, id string) {
	if len(f.Methods) > 0 && !slices.Contains(f.Methods, http.MethodOptions) {
		maps.Copy(w.ResponseWriter.Header(), edge.CORSHeaders())
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	if len(f.Methods) > 0 && !slices.Contains(f.Methods, r.Method) {
		w.Header().Set("Allow", strings.Join(f.Methods, ", "))
		Fail(w, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "The function does not answer "+r.Method)
		return
	}
	caller, refusal := h.caller(r)
	if refusal != nil && !f.NoVerifyJWT && r.Method != http.MethodOptions {
		refusal.write(w)
		return
	}
	if r.ContentLength > f.MaxBody {
		f.refuse(w, r, http.StatusRequestEntityTooLarge, "BODY_TOO_LARGE",
			fmt.Sprintf("The body is larger than %d bytes", f.MaxBody))
		return
	}
	memory := f.weight(r)
	if err := f.gate.reserve(r.Context(), memory); err != nil {
		h.metrics.refused(f.name)
		w.Header().Set("Retry-After", "1")
		f.refuse(w, r, http.StatusServiceUnavailable, "OVERLOADED", "The function is busy. Please try again")
		return
	}
	defer f.gate.release(memory)
	if err := f.gate.enter(r.Context()); err != nil {
		h.metrics.refused(f.name)
		if errors.Is(err, errRunaway) {
			f.refuse(w, r, statusWorkerLimit, "WORKER_LIMIT",
				"Worker failed to respond due to a resource limit (please check logs)")
			return
		}
		w.Header().Set("Retry-After", "1")
		f.refuse(w, r, http.StatusServiceUnavailable, "OVERLOADED", "The function is busy. Please try again")
		return
	}
	env := h.env(f.name, id, caller, h.Client(r))
	if traceID(r) != "" {
		env.Traceparent = r.Header.Get("Traceparent")
	}
	if h.Parent != nil {
		h.runHere(w, r, f, env)
		return
	}
	h.run(w, r, f, env)
}

// refuse sends an error instead of the handler's reply: f.Refused's, or Supabase's.
func (f *function) refuse(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	if f.Refused == nil || !f.Refused(w, r, status) {
		Fail(w, status, code, message)
	}
}

// env returns the environment of one call.
func (h *Host) env(function, id string, caller edge.Caller, client string) *edge.Env {
	return edge.NewEnv(h.services, edge.Env{
		Function: function, ExecutionID: id, Region: h.Region, Caller: caller,
		Log: h.Log.With("function", function, "execution_id", id),
	}, client)
}

// run runs the handler in a goroutine of its own, because a handler that does not return cannot be
// stopped. At the timeout the caller gets 504 and later writes of the handler fail. The call counts
// in the gate until the handler returns.
func (h *Host) run(w *reply, r *http.Request, f *function, env *edge.Env) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	r = r.WithContext(ctx)
	r.Body = http.MaxBytesReader(w.ResponseWriter, r.Body, f.MaxBody)
	done := make(chan error, 1)
	h.work.Go(func() {
		defer f.gate.leave()
		done <- call(f, w, r, env)
	})
	timer := time.NewTimer(f.Timeout)
	defer timer.Stop()
	select {
	case err := <-done:
		h.finish(w, r, env, err)
	case <-timer.C:
		if !w.abandon(func(late http.ResponseWriter) { f.timedOut(late, r, env, done) }) {
			h.finish(w, r, env, <-done) // the timeout applies to the first byte, which was in time
		}
	}
}

// timedOut replies to a call whose timeout is over and watches its handler until done has its
// result.
func (f *function) timedOut(w http.ResponseWriter, r *http.Request, env *edge.Env, done <-chan error) {
	f.gate.runaway(done)
	env.Log.Error("function timed out", "limit", f.Timeout)
	f.refuse(w, r, http.StatusGatewayTimeout, "IDLE_TIMEOUT", "The function did not answer in time (please check logs)")
}

// runHere is run for a process of functions. The handler runs in the goroutine of the connection,
// which costs a short call a tenth less time. At the timeout the parent gets a whole reply and
// closes the connection, so the handler may stay in the goroutine.
func (h *Host) runHere(w *reply, r *http.Request, f *function, env *edge.Env) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	r = r.WithContext(ctx)
	// the parent closes the connection after a reply to a part of a body
	r.Body = http.MaxBytesReader(nil, r.Body, f.MaxBody)
	h.work.Add(1)
	defer h.work.Done()
	done := make(chan error, 1)
	timer := time.AfterFunc(f.Timeout, func() {
		w.abandon(func(late http.ResponseWriter) {
			defer cancel()
			defer w.ended(http.StatusGatewayTimeout)
			whole := wholeReply{ResponseWriter: late}
			defer whole.send()
			defer func() {
				if v := recover(); v != nil { // of Func.Refused
					env.Log.Error("function failed", "error", &panicked{v, debug.Stack()})
				}
			}()
			f.timedOut(&whole, r, env, done)
		})
	})
	err := call(f, w, r, env)
	timer.Stop()
	f.gate.leave()
	done <- err
	if w.settle() {
		h.finish(w, r, env, err)
	}
}

// panicked is a panic of a function, with its stack for the log.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// call runs the handler and turns a panic into an error. A panic with http.ErrAbortHandler becomes
// that error.
func call(f *function, w http.ResponseWriter, r *http.Request, env *edge.Env) (err error) {
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			err = http.ErrAbortHandler
		default:
			err = &panicked{v, debug.Stack()}
		}
	}()
	return f.Handler(w, r, env)
}

// finish ends a reply after the handler has returned err.
func (h *Host) finish(w *reply, r *http.Request, env *edge.Env, err error) {
	if err == nil {
		w.end()
		return
	}
	attrs := []any{"error", err}
	if p, ok := errors.AsType[*panicked](err); ok {
		attrs = append(attrs, "stack", string(p.stack))
	}
	e, public := edge.AsError(err)
	var tooLong *http.MaxBytesError
	switch {
	case w.status() == http.StatusSwitchingProtocols: // the function owns the connection
		env.Log.ErrorContext(r.Context(), "function failed after it hijacked the connection", attrs...)
	case errors.Is(err, http.ErrAbortHandler): // the function aborts the reply (net/http)
		w.broken = true
	case w.begun(): // too late for a status: abort the reply
		env.Log.ErrorContext(r.Context(), "function failed after its reply began", attrs...)
		w.broken = r.Context().Err() == nil // otherwise the client has disconnected, which caused the error
	case r.Context().Err() != nil && errors.Is(err, context.Canceled):
		w.WriteHeader(499) // the client has disconnected; for the log
	case public:
		if e.Status >= 500 {
			env.Log.ErrorContext(r.Context(), "function failed", attrs...)
		}
		e.Write(w)
	case errors.As(err, &tooLong):
		Fail(w, http.StatusRequestEntityTooLarge, "BODY_TOO_LARGE",
			fmt.Sprintf("The body is larger than %d bytes", tooLong.Limit))
	case r.Context().Err() != nil:
		w.WriteHeader(499) // the client has disconnected; for the log
	default:
		env.Log.ErrorContext(r.Context(), "function failed", attrs...)
		w.Header().Set("Sb-Error-Code", "EDGE_FUNCTION_ERROR")
		writeBody(w, http.StatusInternalServerError, "WORKER_ERROR",
			"Function exited due to an error (please check logs); execution id "+env.ExecutionID)
	}
}

func levelOf(status int) slog.Level {
	if status >= 500 {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// traceID returns the trace id of a W3C traceparent header, "" without one.
func traceID(r *http.Request) string {
	parts := strings.Split(r.Header.Get("Traceparent"), "-")
	if len(parts) < 4 || len(parts[1]) != 32 {
		return ""
	}
	return parts[1]
}
