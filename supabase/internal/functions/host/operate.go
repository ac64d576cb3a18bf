package host

import (
	"context"
	"encoding/json"
	"net/http"

	"daawo/supabase/edge"
)

var _ edge.Operator = (*services)(nil)

// Operate runs one of Options.Operations, or an operation of the parent, and returns its result as
// JSON.
func (s *services) Operate(ctx context.Context, name string) (json.RawMessage, error) {
	if s.host.Parent != nil {
		return s.host.Parent.Operate(ctx, name)
	}
	run, ok := s.host.Operations[name]
	if !ok {
		return nil, edge.Errorf(http.StatusNotFound, "unknown_operation", "There is no operation %q.", name)
	}
	result, err := run(ctx)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}
