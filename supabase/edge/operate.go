package edge

import (
	"context"
	"encoding/json"
	"net/http"
)

// Operator is implemented by hosts that run in the program of the stack.
type Operator interface {
	// Operate runs an operation of the stack for a function; see Env.Operate.
	Operate(ctx context.Context, function, name string) (json.RawMessage, error)
}

// Operate runs an operation of the stack with the rights of its operator, and returns its result as
// JSON: doctor, backups, backup, backup-verify, mail-test, functions, function-logs, version. The
// program must name the function in stack.Options.Administration.Operators; otherwise Operate
// returns an *Error with status 403. Check the permissions of the caller yourself before. It
// returns an *Error with status 501 if the host is not part of the stack's program, and with status
// 404 if the stack does not know the operation.
func (e *Env) Operate(ctx context.Context, name string) (json.RawMessage, error) {
	operator, ok := e.host.(Operator)
	if !ok {
		return nil, Errorf(http.StatusNotImplemented, "not_available",
			"This host of functions cannot run operations of the stack.")
	}
	return operator.Operate(ctx, e.Function, name)
}
