package rest

import (
	"net/http"
	"strings"

	"daawo/supabase/internal/database/pool"
)

// Planned is what a request's plan and values lead to, for tests.
type Planned struct {
	Statements       []pool.Statement
	Form             resultForm
	Embedded         int
	Location, Format string
}

// Planned plans a request by the shape of its query with the cache, or without both.
func (e *Engine) Planned(r *http.Request, cached bool) (Planned, error) {
	s := e.state.Load()
	var p *prepared
	var values []string
	var err error
	if cached {
		p, values, err = s.cachedPlan(r, &stopwatch{})
	} else {
		p, err = s.prepare(r, strings.ReplaceAll(r.URL.RawQuery, "\x00", "%00"), &stopwatch{})
	}
	if err != nil || p.plan == nil {
		return Planned{}, err
	}
	out := Planned{Form: p.form, Embedded: p.embedded, Location: contentLocation(p.request, values),
		Format: p.media.ContentType(), Statements: []pool.Statement{filled(&p.statement, values, p.formats)}}
	if p.total != nil {
		out.Statements = append(out.Statements, filled(p.total, values, nil))
	}
	if p.estimate != nil {
		out.Statements = append(out.Statements, filled(p.estimate, values, nil))
	}
	return out, nil
}

// CachedPlans returns the number of plans in the cache.
func (e *Engine) CachedPlans() int { return e.state.Load().plans.entries.Len() }
