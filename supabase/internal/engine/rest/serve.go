package rest

import (
	"context"
	"net/http"
)

// serve answers a request or returns the error to answer with.
func (e *Engine) serve(ctx context.Context, s *state, w http.ResponseWriter, r *http.Request, report *Report) error {
	t := stopwatch{on: s.config.ServerTiming, now: e.now}
	t.start()
	id, err := e.identify(s, r)
	if err != nil {
		return err
	}
	if report != nil {
		report.Role = id.role
	}
	t.lap("jwt")
	if s.schemaCache == nil {
		return errNoSchema()
	}
	p, values, err := s.cachedPlan(r, &t)
	if err != nil {
		return err
	}
	switch {
	case r.Method == http.MethodOptions:
		return s.info(w, p.request, &t)
	case p.plan == nil:
		return e.describe(ctx, s, w, r, p.request, id, &t, report)
	}
	j := job{prepared: p, values: values, engine: e, state: s, http: r, id: id, buffers: e.buffers.get(), report: report}
	defer e.buffers.put(j.buffers)
	res, err := j.run(ctx)
	if err != nil {
		return err
	}
	defer res.body.close()
	t.lap("transaction")
	return j.respond(w, res, &t)
}
