package objects

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/base/apierror"

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

const bucketColumns = `id, name, owner::text, coalesce(public, false), file_size_limit, allowed_mime_types,
	created_at, updated_at`

func scanBucket(r pgx.CollectableRow) (b Bucket, err error) {
	return b, r.Scan(&b.ID, &b.Name, &b.Owner, &b.Public, &b.SizeLimit, &b.AllowedTypes, &b.CreatedAt, &b.UpdatedAt)
}

// bucketRow reads a bucket as part of a pipeline. It sets *answered once the database has answered;
// *to stays nil if the bucket does not exist.
func bucketRow(to **Bucket, answered *bool, id string) step {
	st := statement(`
		select id, name, owner::text, coalesce(public, false), file_size_limit, array_to_json(allowed_mime_types),
			created_at, updated_at
		  from storage.buckets where id = $1`, text(id))
	st.Formats = []int16{0, 0, 0, 0, 0, 0, 1, 1}
	st.read = func(rows *pgconn.ResultReader) (err error) {
		if rows.NextRow() {
			*to, err = readBucket(rows.Values())
		}
		*answered = err == nil
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

// Buckets reads and writes buckets.
type Buckets struct {
	*base
	limit    int64 // largest object of any bucket, in bytes
	emptyMax int
}

// Limit returns the largest object that a bucket with this size limit accepts, in bytes.
func (b *Buckets) Limit(bucket *int64) int64 {
	if bucket != nil {
		return min(*bucket, b.limit)
	}
	return b.limit
}

// Get reads a bucket that the caller may see.
func (b *Buckets) Get(ctx context.Context, c Caller, id string) (*Bucket, error) {
	var found *Bucket
	var answered bool
	err := b.pipeline(ctx, c.Role, setCaller(c.readSession()), bucketRow(&found, &answered, id))
	if err == nil && found == nil {
		return nil, errNoBucket()
	}
	return found, err
}

// BucketPage filters and sorts a list of buckets. Column becomes part of the SQL, so the protocol
// must check it against a list.
type BucketPage struct {
	Limit, Offset *int
	Column        string
	Descending    bool
	Search        string
}

// List returns the buckets that the caller may see.
func (b *Buckets) List(ctx context.Context, c Caller, p BucketPage) ([]Bucket, error) {
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
	return rows(ctx, b.base, c, scanBucket, q.String(), args...)
}

// BucketFields are the changes to a bucket. A nil Public changes nothing. SizeLimit and
// AllowedTypes count only if their Set field is true; nil then removes the restriction.
type BucketFields struct {
	Public       *bool
	SetSizeLimit bool
	SizeLimit    *int64
	SetTypes     bool
	AllowedTypes []string
}

func (b *Buckets) checkFields(f BucketFields) error {
	if f.SizeLimit != nil && *f.SizeLimit > b.limit {
		return ErrTooLarge("object")
	}
	return checkMimeTypes(f.AllowedTypes)
}

// Create makes a bucket as the caller.
func (b *Buckets) Create(ctx context.Context, c Caller, id, name string, f BucketFields) error {
	if strings.TrimSpace(name) != name {
		return ErrInvalidBucketName()
	}
	if err := CheckBucketName(name); err != nil {
		return err
	}
	if strings.HasSuffix(name, reservedSuffix) {
		return ErrInvalidBucketName()
	}
	if err := b.checkFields(f); err != nil {
		return err
	}
	_, err := b.pool.Exec(ctx, c.session(), `
		insert into storage.buckets (id, name, owner, owner_id, public, file_size_limit, allowed_mime_types, type)
		values ($1, $2, $3, $4, $5, $6, $7, 'STANDARD')`,
		id, name, ownerUUID(c.Subject), ownerID(c.Subject), f.Public != nil && *f.Public, f.SizeLimit, f.AllowedTypes)
	if err = MapDatabase(err); isCode(err, "ResourceAlreadyExists") {
		return errExists("BucketAlreadyExists").WithCause(err)
	}
	return err
}

// Update changes the given fields as the caller.
func (b *Buckets) Update(ctx context.Context, c Caller, id string, f BucketFields) error {
	if err := CheckBucketName(id); err != nil {
		return err
	}
	if f.Public == nil && !f.SetSizeLimit && !f.SetTypes {
		return ErrNoContent()
	}
	if err := b.checkFields(f); err != nil {
		return err
	}
	n, err := b.pool.Exec(ctx, c.session(), `
		update storage.buckets
		   set public = coalesce($2, public),
		       file_size_limit = case when $3 then $4 else file_size_limit end,
		       allowed_mime_types = case when $5 then $6 else allowed_mime_types end
		 where id = $1`,
		id, f.Public, f.SetSizeLimit, f.SizeLimit, f.SetTypes, f.AllowedTypes)
	if err == nil && n == 0 {
		return errNoBucket()
	}
	return MapDatabase(err)
}

// Delete deletes an empty bucket as the caller.
func (b *Buckets) Delete(ctx context.Context, c Caller, id string) error {
	// The caller may be unable to see some objects of the bucket, so the check runs as
	// service_role.
	notEmpty, err := row(ctx, b.base, c.Service(), pgx.RowTo[bool], `
		select exists (select from storage.objects where bucket_id = $1) from storage.buckets where id = $1`, id)
	if err != nil {
		return err
	}
	if notEmpty == nil {
		return errNoBucket()
	}
	if *notEmpty {
		return errBucketNotEmpty()
	}
	n, err := b.pool.Exec(ctx, c.session(), `delete from storage.buckets where id = $1`, id)
	if err == nil && n == 0 {
		return errNoBucket()
	}
	return MapDatabase(err)
}

// Empty deletes, in batches, all objects that the bucket has at the time of the call.
func (b *Buckets) Empty(ctx context.Context, c Caller, id string) error {
	if _, err := b.Get(ctx, c, id); err != nil {
		return err
	}
	count, err := row(ctx, b.base, c, pgx.RowTo[int], `
		select count(*) from (select from storage.objects where bucket_id = $1 limit $2) o`, id, b.emptyMax+1)
	if err != nil {
		return err
	}
	if *count > b.emptyMax {
		return apierror.Errorf(409, "InvalidRequest", "Unable to empty the bucket because it contains too many objects")
	}
	before := b.now()
	for {
		deleted, err := rows(ctx, b.base, c, scanObject, `
			delete from storage.objects
			 where id in (select id from storage.objects where bucket_id = $1 and created_at <= $2 order by id limit $3)
			returning `+objectColumns, id, before, deleteBatch)
		if err != nil {
			return err
		}
		b.deleteVersions(ctx, deleted...)
		if len(deleted) < deleteBatch {
			return nil
		}
	}
}

// ownerUUID returns the value of the column owner: nil unless the subject is a UUID.
func ownerUUID(subject string) *string {
	if len(subject) != 36 || uuid.Validate(subject) != nil {
		return nil
	}
	return &subject
}

// ownerID returns the value of the column owner_id, which holds any subject; nil if there is none.
func ownerID(subject string) *string {
	if subject == "" {
		return nil
	}
	return &subject
}

// escapeLike escapes s for use in a LIKE pattern.
func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
