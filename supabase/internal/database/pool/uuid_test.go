package pool

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"daawo/supabase/internal/database/testdb"
)

// TestUUID sends and reads uuids in both formats, as null, in pointers and in arrays.
func TestUUID(t *testing.T) {
	pool, err := Open(t.Context(), Config{URL: testdb.New(t).TCPURL("postgres")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	ctx := t.Context()
	want := uuid.MustParse("6f1c1a52-7d10-4bb5-9e07-0a3d0b1c2d3e")
	for _, format := range []int16{pgx.TextFormatCode, pgx.BinaryFormatCode} {
		var one uuid.UUID
		var pointer, null *uuid.UUID
		var all []uuid.UUID
		var text string
		err := pool.Pgx().QueryRow(ctx, "select $1::uuid, $1::uuid, $2::uuid, $3::uuid[], $1::uuid::text",
			pgx.QueryResultFormats{format}, want, null, []uuid.UUID{want, uuid.Nil}).Scan(&one, &pointer, &null, &all,
			&text)
		if err != nil {
			t.Fatal(err)
		}
		if one != want || pointer == nil || *pointer != want || null != nil || len(all) != 2 || all[0] != want ||
			all[1] != uuid.Nil || text != want.String() {
			t.Errorf("format %d: got %v %v %v %v %s", format, one, pointer, null, all, text)
		}
	}
	var one uuid.UUID
	if err := pool.Pgx().QueryRow(ctx, "select null::uuid").Scan(&one); err == nil {
		t.Error("null became a uuid")
	}
}

// BenchmarkUUID encodes a parameter and scans a column.
func BenchmarkUUID(b *testing.B) {
	types := pgtype.NewMap()
	types.RegisterType(&pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: uuidCodec{}})
	id := uuid.New()
	var buf []byte
	var got uuid.UUID
	var err error
	for b.Loop() {
		if buf, err = types.Encode(pgtype.UUIDOID, pgtype.BinaryFormatCode, id, buf[:0]); err != nil {
			b.Fatal(err)
		}
		if err = types.Scan(pgtype.UUIDOID, pgtype.BinaryFormatCode, buf, &got); err != nil {
			b.Fatal(err)
		}
	}
}
