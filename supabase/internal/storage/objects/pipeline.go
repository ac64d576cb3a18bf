package objects

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"daawo/supabase/internal/db"

	"github.com/jackc/pgx/v5/pgconn"
)

// What every upload and download asks of the database travels as one pipeline: one round trip, which is one
// transaction. Plans under row level security belong to a role, so each role has prepared statements of its own.

// step is one statement of a pipeline. read sees its rows before the next one's; nil forgets them.
type step struct {
	db.Statement
	read func(*pgconn.ResultReader) error
}

// as makes what follows it the caller's.
func as(c db.Caller) step {
	st, _ := c.Statement()
	return step{Statement: st}
}

func statement(sql string, args ...[]byte) step {
	return step{Statement: db.Statement{SQL: sql, Args: args}}
}

// pipeline runs the steps in one round trip. What they read counts once it returns nil.
func (s *Store) pipeline(ctx context.Context, role string, steps ...step) error {
	statements := make([]db.Statement, len(steps))
	for i := range steps {
		statements[i] = steps[i].Statement
	}
	err := s.pool.Session(ctx, role, func(session *db.Session) error {
		return session.Run(ctx, statements, func(i int, rows *pgconn.ResultReader) error {
			if read := steps[i].read; read != nil {
				return read(rows)
			}
			return nil
		})
	})
	return MapDatabase(err)
}

// text is a parameter that is never null, maybe one where nil is null.
func text(s string) []byte { return []byte(s) }

func maybe(s *string) []byte {
	if s == nil {
		return nil
	}
	return []byte(*s)
}

// objectRow is a statement whose result is objectColumns, and at most one row: it sets *to, to nil when there is none.
func objectRow(to **Object, sql string, args ...[]byte) step {
	st := statement(sql, args...)
	st.Formats = objectFormats
	st.read = func(rows *pgconn.ResultReader) error {
		*to = nil
		if !rows.NextRow() {
			return nil
		}
		o, err := readObject(rows.Values())
		*to = o
		return err
	}
	return st
}

// objectFormats asks for objectColumns as text, but for the times, whose text depends on the session's settings.
var objectFormats = []int16{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}

// readObject reads objectColumns in objectFormats.
func readObject(v [][]byte) (*Object, error) {
	o := &Object{ID: string(v[0]), Bucket: string(v[1]), Name: string(v[2]), Owner: readText(v[3]), OwnerID: readText(v[4]),
		Version: readText(v[5]), Metadata: readJSON(v[6]), UserMetadata: readJSON(v[7])}
	for i, to := range []**time.Time{&o.CreatedAt, &o.UpdatedAt, &o.AccessedAt} {
		var err error
		if *to, err = readTime(v[8+i]); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func readText(v []byte) *string {
	if v == nil {
		return nil
	}
	s := string(v)
	return &s
}

func readJSON(v []byte) json.RawMessage {
	if v == nil {
		return nil
	}
	return append(json.RawMessage(nil), v...)
}

// postgresEpoch is 2000-01-01, from which timestamptz counts microseconds.
var postgresEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func readTime(v []byte) (*time.Time, error) {
	if v == nil {
		return nil, nil
	}
	if len(v) != 8 {
		return nil, fmt.Errorf("a timestamp of %d bytes", len(v))
	}
	micros := int64(binary.BigEndian.Uint64(v))
	t := time.UnixMicro(postgresEpoch.UnixMicro() + micros)
	return &t, nil
}
