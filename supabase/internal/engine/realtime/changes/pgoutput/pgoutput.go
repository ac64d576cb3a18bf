// Package pgoutput decodes the messages of Postgres' output plugin pgoutput, protocol version 1
// with values as text (PostgreSQL documentation, "Logical Replication Message Formats").
package pgoutput

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Begin starts a transaction.
type Begin struct {
	FinalLSN   uint64
	CommitTime time.Time
	XID        uint32
}

// Commit ends a transaction.
type Commit struct {
	LSN, EndLSN uint64
	CommitTime  time.Time
}

// Relation describes a table. The server sends it before the first change of the table, and again
// after its definition, privileges or policies changed.
type Relation struct {
	ID              uint32
	Schema, Table   string
	ReplicaIdentity byte // d default, n nothing, f full, i index
	Columns         []Column
}

// Column is a column of a Relation.
type Column struct {
	Key      bool // part of the replica identity
	Name     string
	Type     uint32 // OID
	Modifier int32
}

// Kind is the form of a value in a Tuple.
type Kind byte

// The kinds of values.
const (
	Null      Kind = 'n'
	Unchanged Kind = 'u' // a TOASTed value that did not change and was not sent
	Text      Kind = 't'
)

// Value is a value of a Tuple. Text is set only if Kind is Text.
type Value struct {
	Kind Kind
	Text string
}

// Tuple has one value per column of its Relation.
type Tuple []Value

// Insert is a new row.
type Insert struct {
	Relation uint32
	New      Tuple
}

// Update is a changed row. Old is nil unless the replica identity changed or is full. OldKeyOnly
// reports whether Old has values only in the columns of the replica identity.
type Update struct {
	Relation   uint32
	Old, New   Tuple
	OldKeyOnly bool
}

// Delete is a deleted row. OldKeyOnly is as in Update.
type Delete struct {
	Relation   uint32
	Old        Tuple
	OldKeyOnly bool
}

// Truncate empties tables.
type Truncate struct{ Relations []uint32 }

// Other is a message without meaning for readers of changes: a type, an origin or a logical
// message.
type Other struct{ Kind byte }

// errShort means that a message ended early.
var errShort = errors.New("the message is too short")

// Decode returns the message as one of the types of this package. Strings are copies, so data may
// be reused.
func Decode(data []byte) (any, error) {
	if len(data) == 0 {
		return nil, errShort
	}
	r := &reader{data: data[1:]}
	message := r.message(data[0])
	switch {
	case r.err != nil:
		return nil, fmt.Errorf("pgoutput message %q: %w", data[0], r.err)
	case message == nil:
		return nil, fmt.Errorf("pgoutput message %q: unknown kind", data[0])
	}
	if _, ignored := message.(Other); !ignored && len(r.data) > 0 {
		return nil, fmt.Errorf("pgoutput message %q: %d bytes too many", data[0], len(r.data))
	}
	return message, nil
}

// epoch is the start of Postgres' timestamps.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// timestamp converts Postgres' microseconds.
func timestamp(microseconds int64) time.Time {
	const second = 1_000_000
	return time.Unix(epoch.Unix()+microseconds/second, microseconds%second*1000).UTC()
}

func (r *reader) message(kind byte) any {
	switch kind {
	case 'B':
		return Begin{r.uint64(), timestamp(int64(r.uint64())), r.uint32()}
	case 'C':
		r.byte() // flags, unused
		return Commit{r.uint64(), r.uint64(), timestamp(int64(r.uint64()))}
	case 'R':
		return r.relation()
	case 'I':
		id := r.uint32()
		r.expect('N')
		return Insert{id, r.tuple()}
	case 'U':
		return r.update()
	case 'D':
		id := r.uint32()
		part := r.byte()
		if part != 'K' && part != 'O' {
			r.fail(fmt.Errorf("unexpected part %q", part))
		}
		return Delete{id, r.tuple(), part == 'K'}
	case 'T':
		return r.truncate()
	case 'Y', 'O', 'M':
		return Other{kind}
	}
	return nil
}

func (r *reader) relation() Relation {
	rel := Relation{ID: r.uint32(), Schema: r.string(), Table: r.string(), ReplicaIdentity: r.byte()}
	if rel.Schema == "" {
		rel.Schema = "pg_catalog" // the protocol's short form
	}
	n := r.count(1 + 1 + 4 + 4)
	rel.Columns = make([]Column, 0, n)
	for range n {
		rel.Columns = append(rel.Columns, Column{r.byte()&1 != 0, r.string(), r.uint32(), int32(r.uint32())})
	}
	return rel
}

func (r *reader) update() Update {
	u := Update{Relation: r.uint32()}
	part := r.byte()
	if part == 'K' || part == 'O' {
		u.OldKeyOnly = part == 'K'
		u.Old = r.tuple()
		part = r.byte()
	}
	if part != 'N' {
		r.fail(fmt.Errorf("unexpected part %q", part))
	}
	u.New = r.tuple()
	return u
}

func (r *reader) truncate() Truncate {
	n := int(r.uint32())
	r.byte() // options
	if n*4 != len(r.data) {
		r.fail(errShort)
		return Truncate{}
	}
	t := Truncate{make([]uint32, n)}
	for i := range t.Relations {
		t.Relations[i] = r.uint32()
	}
	return t
}

// tuple reads a row.
func (r *reader) tuple() Tuple {
	n := r.count(1)
	t := make(Tuple, 0, n)
	for range n {
		v := Value{Kind: Kind(r.byte())}
		switch v.Kind {
		case Null, Unchanged:
		case Text:
			v.Text = string(r.bytes(int(int32(r.uint32()))))
		default:
			r.fail(fmt.Errorf("unexpected kind of value %q", byte(v.Kind)))
		}
		if r.err != nil {
			return nil
		}
		t = append(t, v)
	}
	return t
}

// reader reads a message. After the first error it returns zero values.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.data = nil
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.fail(errShort)
		return nil
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) expect(want byte) {
	if got := r.byte(); got != want {
		r.fail(fmt.Errorf("unexpected part %q", got))
	}
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// count reads a number of items of at least size bytes each. It fails if the message cannot have
// that many.
func (r *reader) count(size int) int {
	b := r.bytes(2)
	if b == nil {
		return 0
	}
	n := int(binary.BigEndian.Uint16(b))
	if n*size > len(r.data) {
		r.fail(errShort)
		return 0
	}
	return n
}

// string reads up to the next zero byte.
func (r *reader) string() string {
	for i, b := range r.data {
		if b == 0 {
			return string(r.bytes(i + 1)[:i])
		}
	}
	r.fail(errShort)
	return ""
}
