package rest

import (
	"context"
	"net/http"
)

func (e *Engine) describe(ctx context.Context, s *state, w http.ResponseWriter, r *http.Request, q *request, id identity) error {
	return errNoSchema()
}
