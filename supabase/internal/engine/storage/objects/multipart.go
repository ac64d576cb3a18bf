package objects

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/backend"

	"github.com/jackc/pgx/v5"
)

// Multipart handles S3 multipart uploads.
type Multipart struct {
	*base
	objects *Store
	secret  string // encrypts the column upload_signature
}

// MultipartUpload is a row of storage.s3_multipart_uploads.
type MultipartUpload struct {
	ID           string
	Bucket, Name string
	Version      string
	UserMetadata json.RawMessage
	Metadata     json.RawMessage
	CreatedAt    time.Time
}

// Key returns the backend key of the object that the parts will form.
func (u *MultipartUpload) Key() backend.Key {
	return backend.Key{Bucket: u.Bucket, Name: u.Name, Version: u.Version}
}

// asUpload returns the upload with which the caller's permissions are checked.
func (u *MultipartUpload) asUpload(owner string) Upload {
	metadata := u.Metadata
	if metadata == nil {
		metadata = json.RawMessage(`{}`)
	}
	return Upload{Bucket: u.Bucket, Name: u.Name, Owner: owner, Upsert: true, UserMetadata: u.UserMetadata,
		Declared: Declared{Full: metadata}}
}

// Create starts an upload of an object that the caller may write. It returns the upload's id.
func (m *Multipart) Create(ctx context.Context, c Caller, key backend.Key, o backend.Options,
	user json.RawMessage) (string, error) {
	if err := key.Check(); err != nil {
		return "", MapError(err)
	}
	metadata, err := json.Marshal(Declared{MimeType: o.ContentType})
	if err != nil {
		return "", err
	}
	if err := m.objects.CanUpload(ctx, c,
		Upload{Bucket: key.Bucket, Name: key.Name, Owner: c.Subject, Upsert: true, UserMetadata: user,
			Declared: Declared{Full: metadata}}); err != nil {
		return "", err
	}
	id, err := m.Backend.CreateMultipart(ctx, key, o)
	if err != nil {
		return "", MapError(err)
	}
	signature, err := uploadSignature(m.secret, 0)
	if err != nil {
		return "", err
	}
	m.step("write upload row")
	_, err = m.pool.Exec(ctx, c.Service().session(), `
		insert into storage.s3_multipart_uploads
			(id, bucket_id, key, version, upload_signature, owner_id, user_metadata, metadata)
		values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		id, key.Bucket, key.Name, key.Version, signature, ownerID(c.Subject), nullable(user), metadata)
	if err != nil {
		return "", errors.Join(MapDatabase(err), m.Backend.AbortMultipart(ctx, key, id))
	}
	return id, nil
}

// nullable returns SQL null for a missing document, and the document otherwise, even if it is JSON
// null.
func nullable(document json.RawMessage) any {
	if document == nil {
		return nil
	}
	return document
}

// Get returns an upload of an object that the caller may write.
func (m *Multipart) Get(ctx context.Context, c Caller, id, bucket, name string) (*MultipartUpload, error) {
	u, err := row(ctx, m.base, c.Service(), func(r pgx.CollectableRow) (u MultipartUpload, err error) {
		return u, r.Scan(&u.ID, &u.Bucket, &u.Name, &u.Version, &u.UserMetadata, &u.Metadata, &u.CreatedAt)
	}, `select id, bucket_id, key, version, user_metadata, metadata, created_at
	      from storage.s3_multipart_uploads where id = $1 and bucket_id = $2 and key = $3`, id, bucket, name)
	if err == nil && u == nil {
		err = errNoUpload()
	}
	if err != nil {
		return nil, err
	}
	return u, m.objects.CanUpload(ctx, c, u.asUpload(c.Subject))
}

// reserve adds size, which may be negative, to the bytes reserved for an upload. It returns
// ErrTooLarge if the sum would exceed limit.
func (m *Multipart) reserve(ctx context.Context, c Caller, id string, size, limit int64) error {
	return m.tx(ctx, c.Service(), func(tx pgx.Tx) error { return m.addReserved(ctx, tx, id, size, limit) })
}

// addReserved is reserve in a transaction. limit has no effect on a negative size.
func (m *Multipart) addReserved(ctx context.Context, tx pgx.Tx, id string, size, limit int64) error {
	var reserved int64
	err := tx.QueryRow(ctx, `select in_progress_size from storage.s3_multipart_uploads where id = $1 for update`,
		id).Scan(&reserved)
	if errors.Is(err, pgx.ErrNoRows) {
		return errNoUpload()
	}
	if err != nil {
		return err
	}
	if reserved += size; size > 0 && reserved > limit {
		return ErrTooLarge("object")
	}
	reserved = max(reserved, 0)
	signature, err := uploadSignature(m.secret, reserved)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `update storage.s3_multipart_uploads set in_progress_size = $2, upload_signature = $3
		where id = $1`,
		id, reserved, signature)
	return err
}

// PutPart stores one part of size bytes.
func (m *Multipart) PutPart(ctx context.Context, c Caller, u *MultipartUpload, number int, body io.Reader,
	size int64) (backend.Part, error) {
	return m.part(ctx, c, u, number, size, func() (backend.Part, error) {
		l := &limited{r: body, left: size}
		part, err := m.Backend.PutPart(ctx, u.Key(), u.ID, number, l, size)
		if err == nil && l.left != 0 {
			err = apierror.Errorf(400, "IncompleteBody",
				"You did not provide the number of bytes specified by the Content-Length HTTP header")
		}
		return part, err
	})
}

// CopyPart copies a range of an object into a part. The protocol has checked that the caller may
// read the object.
func (m *Multipart) CopyPart(ctx context.Context, c Caller, u *MultipartUpload, number int, from backend.Key, offset,
	length int64) (part backend.Part, at time.Time, err error) {
	part, err = m.part(ctx, c, u, number, length, func() (p backend.Part, err error) {
		p, at, err = m.Backend.CopyPart(ctx, u.Key(), u.ID, number, from, offset, length)
		return p, err
	})
	return part, at, err
}

// part reserves the size of a part, has put store its bytes, and writes its row.
func (m *Multipart) part(ctx context.Context, c Caller, u *MultipartUpload, number int, size int64,
	put func() (backend.Part, error)) (backend.Part, error) {
	buckets := m.objects.Buckets
	bucket, err := buckets.Get(ctx, c.Service(), u.Bucket)
	if err != nil {
		return backend.Part{}, err
	}
	if err := m.reserve(ctx, c, u.ID, size, buckets.Limit(bucket.SizeLimit)); err != nil {
		return backend.Part{}, err
	}
	part, err := put()
	if err != nil {
		if undo := m.reserve(context.WithoutCancel(ctx), c, u.ID, -size, 0); undo != nil {
			m.log.WarnContext(ctx, "storage: reserved size of part not released", "error", undo)
		}
		return part, MapError(err)
	}
	m.step("write part row")
	// A part that is sent again replaces the earlier one.
	err = m.tx(ctx, c.Service(), func(tx pgx.Tx) error {
		var before int64
		err := tx.QueryRow(ctx, `
			with gone as (delete from storage.s3_multipart_uploads_parts
				where upload_id = $1 and part_number = $2 returning size)
			select coalesce(sum(size), 0) from gone`, u.ID, number).Scan(&before)
		if err != nil {
			return err
		}
		if before > 0 {
			if err := m.addReserved(ctx, tx, u.ID, -before, 0); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `
			insert into storage.s3_multipart_uploads_parts
				(upload_id, version, part_number, etag, key, bucket_id, owner_id, size)
			values ($1, $2, $3, $4, $5, $6, $7, $8)`,
			u.ID, u.Version, number, part.ETag, u.Name, u.Bucket, ownerID(c.Subject), part.Size)
		return err
	})
	return part, err
}

// ListedPart is a row of storage.s3_multipart_uploads_parts.
type ListedPart struct {
	backend.Part
	CreatedAt time.Time
}

// Parts lists at most limit parts whose numbers are greater than after.
func (m *Multipart) Parts(ctx context.Context, c Caller, u *MultipartUpload, after, limit int) ([]ListedPart, error) {
	return rows(ctx, m.base, c.Service(), func(r pgx.CollectableRow) (p ListedPart, err error) {
		return p, r.Scan(&p.Number, &p.ETag, &p.Size, &p.CreatedAt)
	}, `select part_number, etag, size, created_at from storage.s3_multipart_uploads_parts
	     where upload_id = $1 and part_number > $2 order by part_number limit $3`, u.ID, after, limit)
}

// Complete joins the given parts into the object. An empty list means all parts.
func (m *Multipart) Complete(ctx context.Context, c Caller, u *MultipartUpload, parts []backend.Part,
	when Condition) (*Object, error) {
	if len(parts) == 0 {
		all, err := m.Parts(ctx, c, u, 0, 10_000)
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			parts = append(parts, p.Part)
		}
	}
	if len(parts) == 0 {
		return nil, apierror.Errorf(400, "InvalidRequest", "You must specify at least one part")
	}
	meta, err := m.Backend.CompleteMultipart(ctx, u.Key(), u.ID, parts)
	if errors.Is(err, backend.ErrPart) || errors.Is(err, backend.ErrNotFound) {
		// An earlier call may have joined the parts and then failed to write the row, or its reply
		// was lost.
		if joined, headErr := m.Backend.Head(ctx, u.Key()); headErr == nil && m.uploaded(ctx, c, u, parts) {
			meta, err = joined, nil
		}
	}
	if errors.Is(err, backend.ErrPart) {
		return nil, apierror.Errorf(400, "InvalidPart",
			"One or more of the specified parts could not be found. The part may not have been uploaded, or the "+
				"specified entity tag may not match the part's entity tag.").WithCause(err)
	}
	if err != nil {
		return nil, MapError(err)
	}
	upload := u.asUpload(c.Subject)
	upload.Condition = when
	o, err := m.objects.Complete(ctx, c, u.Key(), upload, MetadataOf(meta), u.UserMetadata)
	if err != nil {
		return nil, err
	}
	return o, m.deleteRow(context.WithoutCancel(ctx), c, u.ID)
}

// uploaded reports whether all parts have been uploaded, with these ETags.
func (m *Multipart) uploaded(ctx context.Context, c Caller, u *MultipartUpload, parts []backend.Part) bool {
	all, err := m.Parts(ctx, c, u, 0, 10_000)
	if err != nil {
		return false
	}
	etags := map[int]string{}
	for _, p := range all {
		etags[p.Number] = strings.Trim(p.ETag, `"`)
	}
	return !slices.ContainsFunc(parts, func(p backend.Part) bool { return etags[p.Number] != strings.Trim(p.ETag, `"`) })
}

// Abort deletes an upload and its parts.
func (m *Multipart) Abort(ctx context.Context, c Caller, u *MultipartUpload) error {
	if err := m.Backend.AbortMultipart(ctx, u.Key(), u.ID); err != nil && !errors.Is(err, backend.ErrNotFound) {
		return MapError(err)
	}
	return m.deleteRow(ctx, c, u.ID)
}

func (m *Multipart) deleteRow(ctx context.Context, c Caller, id string) error {
	m.step("delete upload row")
	_, err := m.pool.Exec(ctx, c.Service().session(), `delete from storage.s3_multipart_uploads where id = $1`, id)
	return MapDatabase(err)
}

// List returns the uploads in progress that the caller may see. Folders have no ID.
func (m *Multipart) List(ctx context.Context, c Caller, bucket, prefix, delimiter, afterKey, afterID string,
	limit int) ([]MultipartUpload, error) {
	scan := func(r pgx.CollectableRow) (u MultipartUpload, err error) {
		return u, r.Scan(&u.ID, &u.Name, &u.CreatedAt)
	}
	if delimiter == "" {
		return rows(ctx, m.base, c, scan, `
			select id, key, created_at
			  from storage.s3_multipart_uploads
			 where bucket_id = $1 and key ilike $2
			   and ($3 = '' or key collate "C" > $3 or $4 <> '' and key = $3 and id collate "C" > $4)
			 order by key collate "C", id collate "C"
			 limit $5`, bucket, escapeLike(prefix)+"%", afterKey, afterID, limit)
	}
	found, err := rows(ctx, m.base, c, scan, `
		select id, key, created_at from storage.list_multipart_uploads_with_delimiter($1, $2, $3, $4, $5, '')`,
		bucket, escapeLike(prefix), delimiter, limit, afterKey)
	for i := range found {
		if rest, ok := strings.CutPrefix(found[i].Name, prefix); ok && strings.Contains(rest, delimiter) {
			found[i].ID = ""
		}
	}
	return found, err
}
