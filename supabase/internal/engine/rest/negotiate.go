package rest

import (
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/grammar"
	"daawo/supabase/internal/engine/rest/plan"
	"daawo/supabase/internal/engine/rest/schema"
	"daawo/supabase/internal/engine/rest/sql"
)

// negotiate returns the first accepted media type that the target supports, and how to produce it.
func (s *state) negotiate(q *request, p *plan.Plan, target schema.Name, head bool) (sql.Reply, ast.MediaType, error) {
	for _, m := range q.accept {
		reply, media, ok := s.match(m, p, target)
		if !ok {
			continue
		}
		if p.Mutation != nil && q.Prefs.Return != "representation" || head {
			reply.Body = sql.BodyNone
		}
		return reply, media, nil
	}
	names := make([]string, len(q.accept))
	for i, m := range q.accept {
		names[i] = m.Mime()
	}
	return sql.Reply{}, ast.MediaType{},
		apierror.Errorf(406, "PGRST107", "None of these media types are available: %s", strings.Join(names, ", "))
}

func (s *state) match(m ast.MediaType, p *plan.Plan, target schema.Name) (sql.Reply, ast.MediaType, bool) {
	switch m.Kind {
	case ast.MediaObject:
		return sql.Reply{Body: sql.BodyObject}, m, true
	case ast.MediaObjectStripped:
		return sql.Reply{Body: sql.BodyObjectStripped}, m, true
	case ast.MediaArrayStripped:
		return sql.Reply{Body: sql.BodyJSONStripped}, m, true
	case ast.MediaPlan:
		if !s.config.PlanEnabled {
			return sql.Reply{}, m, false
		}
		reply, _, ok := s.match(m.PlanFor(), p, target)
		reply.Explain = sql.ExplainOptions(m)
		return reply, m, ok
	default:
		return s.handler(m, p, target)
	}
}

// handler returns how to produce a media type. In this order: a handler for the target, if all
// columns are selected; a handler for any target; a built-in format.
func (s *state) handler(m ast.MediaType, p *plan.Plan, target schema.Name) (sql.Reply, ast.MediaType, bool) {
	custom := func(h schema.Handler, target schema.Name) (sql.Reply, ast.MediaType, bool) {
		return sql.Reply{Body: sql.BodyCustom, Handler: h.Function, Target: target}, grammar.MediaType(h.MediaType),
			true
	}
	name := m.Mime()
	if p.Read.DefaultSelect() {
		if h, ok := s.schemaCache.Handlers[schema.HandlerKey{Target: target, MediaType: "*/*"}]; ok {
			return custom(h, target)
		}
		if h, ok := s.schemaCache.Handlers[schema.HandlerKey{Target: target, MediaType: name}]; ok {
			return custom(h, target)
		}
	}
	if h, ok := s.schemaCache.Handlers[schema.HandlerKey{MediaType: name}]; ok {
		return custom(h, schema.Name{})
	}
	json := ast.MediaType{Kind: ast.MediaJSON}
	switch m.Kind {
	case ast.MediaAny, ast.MediaJSON:
		return sql.Reply{Body: sql.BodyJSON}, json, true
	case ast.MediaCSV:
		return sql.Reply{Body: sql.BodyCSV}, m, true
	case ast.MediaGeoJSON:
		return sql.Reply{Body: sql.BodyGeoJSON}, m, true
	default:
		return sql.Reply{}, m, false
	}
}
