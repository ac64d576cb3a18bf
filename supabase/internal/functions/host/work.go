package host

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/tracing"

	"github.com/google/uuid"
)

// Schedules returns the cron expressions of the functions with a schedule, by function.
func (h *Host) Schedules() map[string]string {
	s := map[string]string{}
	for name, f := range h.all() {
		if f.Schedule != "" {
			s[name] = f.Schedule
		}
	}
	return s
}

// RunSchedule runs the scheduled work of a function once. The outbox calls it.
func (h *Host) RunSchedule(ctx context.Context, name string) error {
	f, ok := h.lookup(name)
	if !ok || f.Run == nil {
		return fmt.Errorf("function %q has no scheduled work", name)
	}
	return h.background(ctx, name, "schedule",
		func(ctx context.Context, env *edge.Env) error { return f.Run(ctx, env) })
}

// RunJob runs a job that a function added. The outbox calls it. If MaxConcurrent jobs of this name
// are running, it waits for the end of one of them, up to Options.JobWait, and then returns
// edge.Snooze.
func (h *Host) RunJob(ctx context.Context, name, job string, args []byte) error {
	f, ok := h.lookup(name)
	if !ok || f.Jobs[job].Run == nil {
		return fmt.Errorf("function %q has no job %q", name, job)
	}
	if running := f.running[job]; running != nil {
		wait := time.NewTimer(h.JobWait)
		defer wait.Stop()
		select {
		case running <- struct{}{}:
			defer func() { <-running }()
		case <-wait.C:
			return edge.Snooze(jobPause)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return h.background(ctx, name, job,
		func(ctx context.Context, env *edge.Env) error { return f.Jobs[job].Run(ctx, env, args) })
}

// jobPause is the pause after which a snoozed job runs again.
const jobPause = time.Second

// jobLimits returns the slots of the jobs with MaxConcurrent.
func jobLimits(f edge.Func) map[string]chan struct{} {
	slots := map[string]chan struct{}{}
	for name, job := range f.Jobs {
		if job.MaxConcurrent > 0 {
			slots[name] = make(chan struct{}, job.MaxConcurrent)
		}
	}
	return slots
}

// background runs scheduled work or a job as the service. A panic becomes an error.
func (h *Host) background(ctx context.Context, name, what string,
	work func(context.Context, *edge.Env) error) (err error) {
	id := uuid.Must(uuid.NewV7()).String()
	env := h.env(name, id, edge.Service, "")
	start := h.Now()
	ctx, end := h.Traces.Start(ctx, name+" "+what, tracing.Consumer, tracing.Text("faas.name", name),
		tracing.Text("faas.invocation_id", id))
	env.Traceparent = tracing.Traceparent(ctx)
	attrs := []any{"work", what}
	if parts := strings.Split(env.Traceparent, "-"); len(parts) == 4 {
		attrs = append(attrs, "trace", parts[1])
	}
	defer func() { end(err) }()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
			env.Log.Error("background work panicked", "panic", v, "stack", string(debug.Stack()))
		}
		env.Log.InfoContext(ctx, "function work",
			append(attrs, "failed", err != nil, "duration", h.Now().Sub(start))...)
	}()
	return work(ctx, env)
}
