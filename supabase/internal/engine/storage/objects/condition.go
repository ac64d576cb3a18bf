package objects

import (
	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
)

// Condition is what must be true of the present object when a write takes effect. The zero value
// always is.
type Condition struct {
	Absent bool   // there is no object
	ETag   string // the object's, without quotes; "*" means any object
}

// errPrecondition says that a Condition is not true.
func errPrecondition() *apierror.Error {
	return apierror.Errorf(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
}

// guard returns a step that fails with divisionByZero if the condition is not true. It must follow
// the lock of the object in the transaction that writes the row.
func (c Condition) guard(bucket, name string) []step {
	const object = ` from storage.objects where bucket_id = $1 and name = $2`
	switch {
	case c.Absent:
		return []step{statement(`select 1 / (not exists (select`+object+`))::int`, text(bucket), text(name))}
	case c.ETag == "*":
		return []step{statement(`select 1 / (exists (select`+object+`))::int`, text(bucket), text(name))}
	case c.ETag != "":
		return []step{statement(`select 1 / coalesce((select (trim(both '"' from metadata ->> 'eTag') = $3)::int`+object+`), 0)`,
			text(bucket), text(name), text(c.ETag))}
	}
	return nil
}

const divisionByZero = "22012"

// conditionError maps the error of guard.
func conditionError(err error) error {
	if e, ok := pool.AsPgError(err); ok && e.Code == divisionByZero {
		return errPrecondition().WithCause(err)
	}
	return err
}
