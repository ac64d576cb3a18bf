package host

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"daawo/supabase/edge"
)

var _ edge.Operator = (*services)(nil)

// Operate runs one of Options.Operations for one of Options.Operators, and returns its result as
// JSON. A process of functions asks its parent, which decides.
func (s *services) Operate(ctx context.Context, function, name string) (json.RawMessage, error) {
	if s.host.Parent != nil {
		return s.host.Parent.Operate(ctx, function, name)
	}
	if !slices.Contains(s.host.Operators, function) {
		return nil, edge.Errorf(http.StatusForbidden, "not_granted",
			"The function %q may not run operations of the stack: name it in stack.Options.Administration.Operators.",
			function)
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
