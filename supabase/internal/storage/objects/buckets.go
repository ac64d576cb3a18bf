package objects

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/wire"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Bucket is a row of storage.buckets.
type Bucket struct {
	ID           string
	Name         string
	Owner        *string
	Public       bool
	SizeLimit    *int64
	AllowedTypes []string // nil means all
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

const bucketColumns = `id, name, owner::text, coalesce(public, false), file_size_limit, allowed_mime_types, created_at, updated_at`

func scanBucket(r pgx.CollectableRow) (b Bucket, err error) {
	return b, r.Scan(&b.ID, &b.Name, &b.Owner, &b.Public, &b.SizeLimit, &b.AllowedTypes, &b.CreatedAt, &b.UpdatedAt)
}

// bucketRow reads a bucket as part of a pipeline, and says in *asked that the database has answered; *to stays nil when
// there is none.
func bucketRow(to **Bucket, asked *bool, id string) step {
	st := statement(`
		select id, name, owner::text, coalesce(public, false), file_size_limit, array_to_json(allowed_mime_types), created_at, updated_at
		  from storage.buckets where id = $1`, text(id))
	st.Formats = []int16{0, 0, 0, 0, 0, 0, 1, 1}
	st.read = func(rows *pgconn.ResultReader) (err error) {
		if rows.NextRow() {
			*to, err = readBucket(rows.Values())
		}
		*asked = err == nil
		return err
	}
	return st
}

func readBucket(v [][]byte) (*Bucket, error) {
	b := &Bucket{ID: string(v[0]), Name: string(v[1]), Owner: readText(v[2]), Public: string(v[3]) == "t"}
	if v[4] != nil {
		n, err := strconv.ParseInt(string(v[4]), 10, 64)
		if err != nil {
			return nil, err
		}
		b.SizeLimit = &n
	}
	if v[5] != nil {
		if err := json.Unmarshal(v[5], &b.AllowedTypes); err != nil {
			return nil, err
		}
	}
	for i, to := range []*time.Time{&b.CreatedAt, &b.UpdatedAt} {
		t, err := readTime(v[6+i])
		if err != nil {
			return nil, err
		}
		if t != nil {
			*to = *t
		}
	}
	return b, nil
}

// Bucket reads a bucket that the caller may see.
func (s *Store) Bucket(ctx context.Context, c Caller, id string) (*Bucket, error) {
	var b *Bucket
	var asked bool
	err := s.pipeline(ctx, c.Role, as(c.reader()), bucketRow(&b, &asked, id))
	if err == nil && b == nil {
		return nil, ErrNoBucket()
	}
	return b, err
}

// BucketPage narrows and sorts a list of buckets. Column is trusted: the caller has checked it against a list.
type BucketPage struct {
	Limit, Offset *int
	Column        string
	Descending    bool
	Search        string
}

// Buckets lists what the caller may see.
func (s *Store) Buckets(ctx context.Context, c Caller, p BucketPage) ([]Bucket, error) {
	var q strings.Builder
	var args []any
	add := func(format string, v any) {
		args = append(args, v)
		fmt.Fprintf(&q, format, len(args))
	}
	q.WriteString(`select ` + bucketColumns + ` from storage.buckets`)
	if p.Search != "" {
		add(` where name ilike $%d`, "%"+escapeLike(p.Search)+"%")
	}
	if p.Column != "" {
		q.WriteString(` order by ` + pgx.Identifier{p.Column}.Sanitize())
		if p.Descending {
			q.WriteString(` desc`)
		}
	}
	if p.Limit != nil {
		add(` limit $%d`, *p.Limit)
	}
	if p.Offset != nil {
		add(` offset $%d`, *p.Offset)
	}
	return rows(ctx, s, c, scanBucket, q.String(), args...)
}

// BucketFields are what may be set of a bucket. A nil Public and an unset limit or list stay as they are; a set limit or
// list that is nil lifts the restriction.
type BucketFields struct {
	Public       *bool
	SetSizeLimit bool
	SizeLimit    *int64
	SetTypes     bool
	AllowedTypes []string
}

func (s *Store) checkFields(f BucketFields) error {
	if f.SizeLimit != nil && *f.SizeLimit > s.limit {
		return ErrTooLarge("object")
	}
	return checkMimeTypes(f.AllowedTypes)
}

// CreateBucket makes a bucket as the caller.
func (s *Store) CreateBucket(ctx context.Context, c Caller, id, name string, f BucketFields) error {
	if strings.TrimSpace(name) != name {
		return ErrInvalidBucketName()
	}
	if err := CheckBucketName(name); err != nil {
		return err
	}
	if strings.HasSuffix(name, reservedSuffix) {
		return ErrInvalidBucketName()
	}
	if err := s.checkFields(f); err != nil {
		return err
	}
	_, err := s.pool.Exec(ctx, c.pg(), `
		insert into storage.buckets (id, name, owner, owner_id, public, file_size_limit, allowed_mime_types, type)
		values ($1, $2, $3, $4, $5, $6, $7, 'STANDARD')`,
		id, name, ownerUUID(c.Subject), ownerID(c.Subject), f.Public != nil && *f.Public, f.SizeLimit, f.AllowedTypes)
	if err = MapDatabase(err); isCode(err, "ResourceAlreadyExists") {
		return errExists("BucketAlreadyExists").WithCause(err)
	}
	return err
}

// UpdateBucket changes the given fields as the caller.
func (s *Store) UpdateBucket(ctx context.Context, c Caller, id string, f BucketFields) error {
	if err := CheckBucketName(id); err != nil {
		return err
	}
	if f.Public == nil && !f.SetSizeLimit && !f.SetTypes {
		return ErrNoContent()
	}
	if err := s.checkFields(f); err != nil {
		return err
	}
	n, err := s.pool.Exec(ctx, c.pg(), `
		update storage.buckets
		   set public = coalesce($2, public),
		       file_size_limit = case when $3 then $4 else file_size_limit end,
		       allowed_mime_types = case when $5 then $6 else allowed_mime_types end
		 where id = $1`,
		id, f.Public, f.SetSizeLimit, f.SizeLimit, f.SetTypes, f.AllowedTypes)
	if err == nil && n == 0 {
		return ErrNoBucket()
	}
	return MapDatabase(err)
}

// DeleteBucket deletes an empty bucket as the caller.
func (s *Store) DeleteBucket(ctx context.Context, c Caller, id string) error {
	// Whether it is there and empty must be known to those who may delete it only in part, so it is asked with full rights.
	state, err := row(ctx, s, c.Service(), pgx.RowTo[bool], `
		select exists (select from storage.objects where bucket_id = $1) from storage.buckets where id = $1`, id)
	if err != nil {
		return err
	}
	if state == nil {
		return ErrNoBucket()
	}
	if *state {
		return ErrBucketNotEmpty()
	}
	n, err := s.pool.Exec(ctx, c.pg(), `delete from storage.buckets where id = $1`, id)
	if err == nil && n == 0 {
		return ErrNoBucket()
	}
	return MapDatabase(err)
}

// EmptyBucket deletes all objects of a bucket that exist now, in batches.
func (s *Store) EmptyBucket(ctx context.Context, c Caller, id string) error {
	if _, err := s.Bucket(ctx, c, id); err != nil {
		return err
	}
	count, err := row(ctx, s, c, pgx.RowTo[int], `
		select count(*) from (select from storage.objects where bucket_id = $1 limit $2) o`, id, s.emptyMax+1)
	if err != nil {
		return err
	}
	if *count > s.emptyMax {
		return wire.Errorf(409, "InvalidRequest", "Unable to empty the bucket because it contains too many objects")
	}
	before := s.now()
	for {
		deleted, err := rows(ctx, s, c, scanObject, `
			delete from storage.objects
			 where id in (select id from storage.objects where bucket_id = $1 and created_at <= $2 order by id limit $3)
			returning `+objectColumns, id, before, deleteBatch)
		if err != nil {
			return err
		}
		s.deleteBytes(ctx, deleted...)
		if len(deleted) < deleteBatch {
			return nil
		}
	}
}

// ownerUUID and ownerID are the two forms in which a row keeps its owner; an owner that is no UUID has only the second.
func ownerUUID(subject string) *string {
	if len(subject) != 36 || uuid.Validate(subject) != nil {
		return nil
	}
	return &subject
}

func ownerID(subject string) *string {
	if subject == "" {
		return nil
	}
	return &subject
}

// escapeLike makes s stand for itself in a LIKE pattern.
func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
