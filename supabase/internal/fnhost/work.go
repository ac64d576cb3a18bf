package fnhost

import (
	"context"
	"fmt"
	"runtime/debug"

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
	if !ok || f.Jobs[job] == nil {
		return fmt.Errorf("function %q has no job %q", name, job)
	}
	return h.background(ctx, name, job, func(env *edge.Env) error { return f.Jobs[job](ctx, env, args) })
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
