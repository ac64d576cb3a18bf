package objects

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"daawo/supabase/internal/database/pool"

	"github.com/jackc/pgx/v5/pgconn"
)

// Each upload and download sends its statements to the database as one pipeline: one round trip and
// one transaction. Plans under row level security depend on the role, so each role has its own
// prepared statements.

// step is one statement of a pipeline. read gets its rows before the next statement's are read; nil
// discards them.
type step struct {
	pool.Statement
	read func(*pgconn.ResultReader) error
}

// setCaller makes the following steps run as the caller.
func setCaller(c pool.Caller) step {
	st, _ := c.Statement()
	return step{Statement: st}
}

func statement(sql string, args ...[]byte) step {
	return step{Statement: pool.Statement{SQL: sql, Args: args}}
}

// pipeline runs the steps in one round trip. What they have read is valid only if it returns nil.
func (b *base) pipeline(ctx context.Context, role string, steps ...step) error {
	statements := make([]pool.Statement, len(steps))
	for i := range steps {
		statements[i] = steps[i].Statement
	}
	err := b.pool.Session(ctx, role, func(session *pool.Session) error {
		return session.Run(ctx, statements, func(i int, rows *pgconn.ResultReader) error {
			if read := steps[i].read; read != nil {
				return read(rows)
			}
			return nil
		})
	})
	return MapDatabase(err)
}

// text returns a parameter that is never null.
func text(s string) []byte { return []byte(s) }

// nullableText returns a parameter that is null if s is nil.
func nullableText(s *string) []byte {
	if s == nil {
		return nil
	}
	return []byte(*s)
}

// number returns a parameter of an integer type.
func number(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }

// objectRow returns a step that reads at most one row of objectColumns into *to, or sets *to to
// nil.
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

// objectFormats requests objectColumns as text, except the times: their text form depends on
// session settings.
var objectFormats = []int16{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}

// readObject decodes objectColumns in objectFormats.
func readObject(v [][]byte) (*Object, error) {
	o := &Object{ID: string(v[0]), Bucket: string(v[1]), Name: string(v[2]), Owner: readText(v[3]),
		OwnerID: readText(v[4]), Version: readText(v[5]), Metadata: readJSON(v[6]), UserMetadata: readJSON(v[7])}
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

// readUUID returns the text of a UUID, or "" for null.
func readUUID(v []byte) (string, error) {
	if v == nil {
		return "", nil
	}
	if len(v) != 16 {
		return "", fmt.Errorf("uuid has %d bytes, want 16", len(v))
	}
	var b [36]byte
	hex.Encode(b[:8], v[:4])
	hex.Encode(b[9:13], v[4:6])
	hex.Encode(b[14:18], v[6:8])
	hex.Encode(b[19:23], v[8:10])
	hex.Encode(b[24:], v[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:]), nil
}

func readJSON(v []byte) json.RawMessage {
	if v == nil {
		return nil
	}
	return append(json.RawMessage(nil), v...)
}

// postgresEpoch is the time from which timestamptz counts microseconds.
var postgresEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func readTime(v []byte) (*time.Time, error) {
	if v == nil {
		return nil, nil
	}
	if len(v) != 8 {
		return nil, fmt.Errorf("timestamp has %d bytes, want 8", len(v))
	}
	micros := int64(binary.BigEndian.Uint64(v))
	if micros == math.MaxInt64 || micros == math.MinInt64 { // infinity, which JSON has no form for
		return nil, nil
	}
	t := time.UnixMicro(postgresEpoch.UnixMicro() + micros)
	return &t, nil
}
