package store

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/endpoint"
)

// Replies to a contact that another user has.
var (
	ErrEmailExists = apierror.Errorf(http.StatusUnprocessableEntity, "email_exists",
		"A user with this email address has already been registered")
	ErrPhoneExists = apierror.Errorf(http.StatusUnprocessableEntity, "phone_exists",
		"A user with this phone number has already been registered")
)

// DuplicateContact returns exists if err says that another user got the address or number first,
// else err.
func DuplicateContact(err error, exists *apierror.Error) error {
	if pool.IsCode(err, "23505") {
		return exists.WithCause(err)
	}
	return err
}

// InsertError returns the reply to an error of InsertUser. It tells a contact that another request
// took from an id that is in use.
func InsertError(err error, message string) error {
	if pg, ok := pool.AsPgError(err); ok && pg.Code == "23505" {
		switch pg.ConstraintName {
		case "users_email_partial_key":
			return ErrEmailExists.WithCause(err)
		case "users_phone_key":
			return ErrPhoneExists.WithCause(err)
		}
	}
	return DatabaseError(err, message)
}

// refused is an error that InTx returns after the commit.
type refused struct{ err error }

func (r refused) Error() string { return r.err.Error() }

func (r refused) Unwrap() error { return r.err }

// AfterCommit marks err as the result of a transaction that must be committed, because of what it
// has written.
func AfterCommit(err error) error { return refused{err} }

// DatabaseError returns the reply to a database error. An error that a trigger raised for the
// client keeps its text; others get message.
func DatabaseError(err error, message string) error {
	pg, ok := pool.AsPgError(err)
	if !ok {
		return err
	}
	status := 0
	switch pg.Code {
	case "P0001", "23000", "23001", "23502", "23503", "23505", "23514", "23P01":
		status = http.StatusInternalServerError
	default:
		if rest, ok := strings.CutPrefix(pg.Code, "PT"); ok { // as in PostgREST
			status, _ = strconv.Atoi(rest)
		}
	}
	if status < 400 || status > 599 {
		return apierror.Errorf(http.StatusInternalServerError, "unexpected_failure", "%s", message).WithCause(err)
	}
	return (&apierror.Error{
		Status: status, Code: pg.Code, Message: pg.Message,
		Details: endpoint.DatabaseFormat{Hint: pg.Hint, Detail: pg.Detail, Plain: message},
	}).WithCause(err)
}

// InTx runs fn in one transaction. An error that is marked by AfterCommit is returned after the
// commit.
func InTx[T any](ctx context.Context, db *pool.Pool, fn func(pgx.Tx) (T, error)) (T, error) {
	var out T
	var kept refused
	err := db.Tx(ctx, pool.Caller{}, pgx.TxOptions{}, func(tx pgx.Tx) error {
		var err error
		out, err = fn(tx)
		if errors.As(err, &kept) {
			return nil
		}
		return err
	})
	if err == nil && kept.err != nil {
		err = kept.err
	}
	return out, err
}
