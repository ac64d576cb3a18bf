package fnhost

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"daawo/functions/edge"

	"github.com/google/uuid"
)

// Schedules are the cron expressions of the functions that have one.
func (h *Host) Schedules() map[string]string {
	s := map[string]string{}
	for name, f := range h.functions {
		if f.Schedule != "" {
			s[name] = f.Schedule
		}
	}
	return s
}

// RunSchedule does a function's scheduled work once. The outbox calls it.
func (h *Host) RunSchedule(ctx context.Context, name string) error {
	f, ok := h.functions[name]
	if !ok || f.Run == nil {
		return fmt.Errorf("function %q has no scheduled work", name)
	}
	return h.background(ctx, name, "schedule", func(env *edge.Env) error { return f.Run(ctx, env) })
}

// RunJob runs a job that a function enqueued. The outbox calls it.
func (h *Host) RunJob(ctx context.Context, name, job string, args []byte) error {
	f, ok := h.functions[name]
	if !ok || f.Jobs[job].Run == nil {
		return fmt.Errorf("function %q has no job %q", name, job)
	}
	if running := f.running[job]; running != nil {
		select {
		case running <- struct{}{}:
			defer func() { <-running }()
		default:
			return edge.Snooze(jobPause)
		}
	}
	return h.background(ctx, name, job, func(env *edge.Env) error { return f.Jobs[job].Run(ctx, env, args) })
}

// jobPause is when a job runs again that found as many of its kind running as may run at once.
const jobPause = time.Second

// jobLimits makes the slots of the jobs that have a limit of their own.
func jobLimits(f edge.Func) map[string]chan struct{} {
	slots := map[string]chan struct{}{}
	for name, job := range f.Jobs {
		if job.MaxConcurrent > 0 {
			slots[name] = make(chan struct{}, job.MaxConcurrent)
		}
	}
	return slots
}

func (h *Host) background(ctx context.Context, name, what string, work func(*edge.Env) error) (err error) {
	id := uuid.Must(uuid.NewV7()).String()
	env := h.env(name, id, edge.Service, "")
	start := h.Now()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
			env.Log.Error("background work panicked", "panic", v, "stack", string(debug.Stack()))
		}
		env.Log.InfoContext(ctx, "function work", "work", what, "failed", err != nil, "duration", h.Now().Sub(start))
	}()
	return work(env)
}
