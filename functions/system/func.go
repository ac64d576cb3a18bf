// Package system runs operations of the stack for the desk's system page: checks, backups, a test
// mail, logs. Owners only. Only functions.All imports it.
package system

import (
	"errors"
	"net/http"
	"time"

	"daawo/supabase/edge"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Func answers /functions/v1/system. A backup may take minutes.
var Func = edge.Func{Methods: []string{http.MethodPost}, Handler: handle, Timeout: 10 * time.Minute, MaxBody: 1 << 10,
	MaxConcurrent: 4}

type request struct {
	Operation string `json:"operation"`
}

// handle asks the database as the caller whether the caller is an owner. The same statement writes
// the trail.
func handle(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	req, err := edge.ReadJSON[request](r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	err = env.Tx(ctx, env.Caller, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select public.trail_operation($1)`, req.Operation)
		return err
	})
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "42501" {
		return edge.Errorf(http.StatusForbidden, "forbidden", "Owners only.")
	}
	if err != nil {
		return err
	}
	result, err := env.Operate(ctx, req.Operation)
	var known *edge.Error
	if err != nil && !errors.As(err, &known) {
		// The owner may know why: the operator's commands print the same.
		return &edge.Error{Status: http.StatusBadGateway, Code: "operation_failed", Message: err.Error(), Err: err}
	}
	if err != nil {
		return err
	}
	return edge.WriteJSON(w, http.StatusOK, result)
}
