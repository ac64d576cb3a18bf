package edgetest

import (
	"time"

	"daawo/supabase/edge"
)

// real returns the host on Run.DB, nil if Run.DB is not a Database.
func (r *Run) real() *databaseHost {
	d, ok := r.DB.(*Database)
	if !ok {
		return nil
	}
	if r.onDB == nil {
		r.onDB = d.hostOf(functionName, r.Func, func() time.Time { return r.Time },
			func(name string) string { return r.Env[name] })
	}
	return r.onDB
}

// RunJobs runs the jobs that are due, and those that they add, until none is due. A failed job
// waits for its next time, see Advance. It needs a Database.
func (r *Run) RunJobs() []Ran {
	r.t.Helper()
	h := r.real()
	if h == nil {
		r.t.Fatal("edgetest: RunJobs needs Run.DB = edgetest.DB(t)")
	}
	ran, err := h.runJobs(r.t.Context())
	if err != nil {
		r.t.Fatalf("edgetest: %v", err)
	}
	return ran
}

// RunSchedule runs Func.Run once as the service.
func (r *Run) RunSchedule() error {
	r.t.Helper()
	if r.Func.Run == nil {
		r.t.Fatal("edgetest: the function has no schedule")
	}
	if h := r.real(); h != nil {
		return h.runSchedule(r.t.Context())
	}
	return r.Func.Run(r.t.Context(), r.envOf(edge.Service))
}

// Advance moves the clock of the function forward. With a Database, waiting jobs and counted limits
// become that much older. now() of SQL stays the real time.
func (r *Run) Advance(by time.Duration) {
	r.t.Helper()
	r.Time = r.Time.Add(by)
	if d, ok := r.DB.(*Database); ok {
		if err := d.age(r.t.Context(), by); err != nil {
			r.t.Fatalf("edgetest: %v", err)
		}
	}
}
