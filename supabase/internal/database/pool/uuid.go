package pool

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// registerUUID lets a connection convert uuid.UUID directly. Without it pgx takes it for a value of
// database/sql and converts it to text and back, which costs some 5 µs per parameter.
func registerUUID(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: uuidCodec{}})
	return nil
}

// uuidCodec is pgtype.UUIDCodec that also knows uuid.UUID.
type uuidCodec struct{ pgtype.UUIDCodec }

func (c uuidCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(uuid.UUID); !ok {
		return c.UUIDCodec.PlanEncode(m, oid, format, value)
	}
	next := c.UUIDCodec.PlanEncode(m, oid, format, pgtype.UUID{})
	if next == nil {
		return nil
	}
	return encodeUUID{next}
}

func (c uuidCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(*uuid.UUID); ok && format == pgtype.BinaryFormatCode {
		return scanUUID{}
	}
	return c.UUIDCodec.PlanScan(m, oid, format, target)
}

type encodeUUID struct{ next pgtype.EncodePlan }

func (p encodeUUID) Encode(value any, buf []byte) ([]byte, error) {
	return p.next.Encode(pgtype.UUID{Bytes: value.(uuid.UUID), Valid: true}, buf)
}

type scanUUID struct{}

func (scanUUID) Scan(src []byte, target any) error {
	id := target.(*uuid.UUID)
	if len(src) != len(id) {
		return fmt.Errorf("cannot scan %d bytes as a uuid", len(src)) // null has none
	}
	copy(id[:], src)
	return nil
}
