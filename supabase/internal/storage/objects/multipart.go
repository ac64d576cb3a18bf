package objects

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/storage/backend"
	"daawo/supabase/internal/wire"

	"github.com/jackc/pgx/v5"
)

// MultipartUpload is a row of storage.s3_multipart_uploads.
type MultipartUpload struct {
	ID           string
	Bucket, Name string
	Version      string
	UserMetadata json.RawMessage
	Metadata     json.RawMessage
	CreatedAt    time.Time
}

// Key is where the parts are collected.
func (m *MultipartUpload) Key() backend.Key {
	return backend.Key{Bucket: m.Bucket, Name: m.Name, Version: m.Version}
}

// upload is how the caller's rights to the object are asked for.
func (m *MultipartUpload) upload(owner string) Upload {
	metadata := m.Metadata
	if metadata == nil {
		metadata = json.RawMessage(`{}`)
	}
	return Upload{Bucket: m.Bucket, Name: m.Name, Owner: owner, Upsert: true, UserMetadata: m.UserMetadata, Declared: Declared{Full: metadata}}
}

// CreateMultipart begins an upload that the caller may finish.
func (s *Store) CreateMultipart(ctx context.Context, c Caller, key backend.Key, o backend.Options, user json.RawMessage) (string, error) {
	if err := key.Check(); err != nil {
		return "", MapError(err)
	}
	metadata, err := json.Marshal(Declared{MimeType: o.ContentType})
	if err != nil {
		return "", err
	}
	if err := s.CanUpload(ctx, c, Upload{Bucket: key.Bucket, Name: key.Name, Owner: c.Subject, Upsert: true, UserMetadata: user,
		Declared: Declared{Full: metadata}}); err != nil {
		return "", err
	}
	id, err := s.Backend.CreateMultipart(ctx, key, o)
	if err != nil {
		return "", MapError(err)
	}
	s.step("write upload row")
	_, err = s.pool.Exec(ctx, c.Service().pg(), `
		insert into storage.s3_multipart_uploads (id, bucket_id, key, version, upload_signature, owner_id, user_metadata, metadata)
		values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		id, key.Bucket, key.Name, key.Version, s.progress(0), ownerID(c.Subject), nullable(user), metadata)
	if err != nil {
		return "", errors.Join(MapDatabase(err), s.Backend.AbortMultipart(ctx, key, id))
	}
	return id, nil
}

// nullable keeps an absent document apart from the document null.
func nullable(m json.RawMessage) any {
	if m == nil {
		return nil
	}
	return m
}

// progress signs how much of an upload has been accounted for.
func (s *Store) progress(n int64) string {
	return base64.StdEncoding.EncodeToString(mac((*s.secrets.Load())[0], "progress:"+strconv.FormatInt(n, 10)))
}

// Multipart finds an upload of the object that the caller may write.
func (s *Store) Multipart(ctx context.Context, c Caller, id, bucket, name string) (*MultipartUpload, error) {
	m, err := s.multipart(ctx, c, id, bucket, name)
	if err != nil {
		return nil, err
	}
	return m, s.CanUpload(ctx, c, m.upload(c.Subject))
}

func (s *Store) multipart(ctx context.Context, c Caller, id, bucket, name string) (*MultipartUpload, error) {
	m, err := row(ctx, s, c.Service(), func(r pgx.CollectableRow) (m MultipartUpload, err error) {
		return m, r.Scan(&m.ID, &m.Bucket, &m.Name, &m.Version, &m.UserMetadata, &m.Metadata, &m.CreatedAt)
	}, `select id, bucket_id, key, version, user_metadata, metadata, created_at
	      from storage.s3_multipart_uploads where id = $1 and bucket_id = $2 and key = $3`, id, bucket, name)
	if err == nil && m == nil {
		return nil, ErrNoUpload()
	}
	return m, err
}

// reserve accounts for size more bytes of an upload, or for fewer when size is negative, under the bucket's limit.
func (s *Store) reserve(ctx context.Context, c Caller, id string, size, limit int64) error {
	return s.tx(ctx, c.Service(), func(tx pgx.Tx) error {
		var now int64
		err := tx.QueryRow(ctx, `select in_progress_size from storage.s3_multipart_uploads where id = $1 for update`, id).Scan(&now)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoUpload()
		}
		if err != nil {
			return err
		}
		if now += size; size > 0 && now > limit {
			return ErrTooLarge("object")
		}
		_, err = tx.Exec(ctx, `update storage.s3_multipart_uploads set in_progress_size = $2, upload_signature = $3 where id = $1`,
			id, max(now, 0), s.progress(max(now, 0)))
		return err
	})
}

// PutPart stores one part of size bytes.
func (s *Store) PutPart(ctx context.Context, c Caller, m *MultipartUpload, number int, body io.Reader, size int64) (backend.Part, error) {
	return s.part(ctx, c, m, number, size, func() (backend.Part, error) {
		l := &limited{r: body, left: size}
		part, err := s.Backend.PutPart(ctx, m.Key(), m.ID, number, l, size)
		if err == nil && l.left != 0 {
			err = wire.Errorf(400, "IncompleteBody", "You did not provide the number of bytes specified by the Content-Length HTTP header")
		}
		return part, err
	})
}

// CopyPart makes a part from a range of an object that the caller has read.
func (s *Store) CopyPart(ctx context.Context, c Caller, m *MultipartUpload, number int, from backend.Key, offset, length int64) (part backend.Part, at time.Time, err error) {
	part, err = s.part(ctx, c, m, number, length, func() (p backend.Part, err error) {
		p, at, err = s.Backend.CopyPart(ctx, m.Key(), m.ID, number, from, offset, length)
		return p, err
	})
	return part, at, err
}

func (s *Store) part(ctx context.Context, c Caller, m *MultipartUpload, number int, size int64, put func() (backend.Part, error)) (backend.Part, error) {
	bucket, err := s.Bucket(ctx, c.Service(), m.Bucket)
	if err != nil {
		return backend.Part{}, err
	}
	if err := s.reserve(ctx, c, m.ID, size, s.Limit(bucket.SizeLimit)); err != nil {
		return backend.Part{}, err
	}
	part, err := put()
	if err != nil {
		if undo := s.reserve(context.WithoutCancel(ctx), c, m.ID, -size, 0); undo != nil {
			s.log.WarnContext(ctx, "storage: a part's size stays accounted for", "error", undo)
		}
		return part, MapError(err)
	}
	s.step("write part row")
	// A part that is sent again replaces the first one.
	err = s.tx(ctx, c.Service(), func(tx pgx.Tx) error {
		var before int64
		err := tx.QueryRow(ctx, `
			with gone as (delete from storage.s3_multipart_uploads_parts where upload_id = $1 and part_number = $2 returning size)
			select coalesce(sum(size), 0) from gone`, m.ID, number).Scan(&before)
		if err != nil {
			return err
		}
		if before > 0 {
			if _, err := tx.Exec(ctx, `update storage.s3_multipart_uploads set in_progress_size = greatest(in_progress_size - $2, 0) where id = $1`, m.ID, before); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `
			insert into storage.s3_multipart_uploads_parts (upload_id, version, part_number, etag, key, bucket_id, owner_id, size)
			values ($1, $2, $3, $4, $5, $6, $7, $8)`,
			m.ID, m.Version, number, part.ETag, m.Name, m.Bucket, ownerID(c.Subject), part.Size)
		return err
	})
	return part, err
}

// ListedPart is a row of storage.s3_multipart_uploads_parts.
type ListedPart struct {
	backend.Part
	CreatedAt time.Time
}

// Parts lists the parts behind a number, at most limit.
func (s *Store) Parts(ctx context.Context, c Caller, m *MultipartUpload, after, limit int) ([]ListedPart, error) {
	return rows(ctx, s, c.Service(), func(r pgx.CollectableRow) (p ListedPart, err error) {
		return p, r.Scan(&p.Number, &p.ETag, &p.Size, &p.CreatedAt)
	}, `select part_number, etag, size, created_at from storage.s3_multipart_uploads_parts
	     where upload_id = $1 and part_number > $2 order by part_number limit $3`, m.ID, after, limit)
}

// CompleteMultipart joins the parts into the object; without a list, all parts.
func (s *Store) CompleteMultipart(ctx context.Context, c Caller, m *MultipartUpload, parts []backend.Part) (*Object, error) {
	if len(parts) == 0 {
		all, err := s.Parts(ctx, c, m, 0, 10_000)
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			parts = append(parts, p.Part)
		}
	}
	if len(parts) == 0 {
		return nil, wire.Errorf(400, "InvalidRequest", "You must specify at least one part")
	}
	meta, err := s.Backend.CompleteMultipart(ctx, m.Key(), m.ID, parts)
	if errors.Is(err, backend.ErrPart) || errors.Is(err, backend.ErrNotFound) {
		// They were joined, and then the row could not be written or the reply was lost.
		if joined, again := s.Backend.Head(ctx, m.Key()); again == nil {
			meta, err = joined, nil
		}
	}
	if errors.Is(err, backend.ErrPart) {
		return nil, wire.Errorf(400, "InvalidPart", "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.").WithCause(err)
	}
	if err != nil {
		return nil, MapError(err)
	}
	o, err := s.Complete(ctx, c, m.Key(), c.Subject, MetadataOf(meta), m.UserMetadata)
	if err != nil {
		return nil, err
	}
	return o, s.endMultipart(context.WithoutCancel(ctx), c, m.ID)
}

// AbortMultipart forgets an upload and its parts.
func (s *Store) AbortMultipart(ctx context.Context, c Caller, m *MultipartUpload) error {
	if err := s.Backend.AbortMultipart(ctx, m.Key(), m.ID); err != nil && !errors.Is(err, backend.ErrNotFound) {
		return MapError(err)
	}
	return s.endMultipart(ctx, c, m.ID)
}

func (s *Store) endMultipart(ctx context.Context, c Caller, id string) error {
	s.step("delete upload row")
	_, err := s.pool.Exec(ctx, c.Service().pg(), `delete from storage.s3_multipart_uploads where id = $1`, id)
	return MapDatabase(err)
}

// Uploads lists uploads in progress that the caller may see. Folders have no ID.
func (s *Store) Uploads(ctx context.Context, c Caller, bucket, prefix, delimiter, afterKey, afterID string, limit int) ([]MultipartUpload, error) {
	scan := func(r pgx.CollectableRow) (m MultipartUpload, err error) {
		return m, r.Scan(&m.ID, &m.Name, &m.CreatedAt)
	}
	if delimiter == "" {
		return rows(ctx, s, c, scan, `
			select id, key, created_at
			  from storage.s3_multipart_uploads
			 where bucket_id = $1 and key ilike $2
			   and ($3 = '' or key collate "C" > $3 or $4 <> '' and key = $3 and id collate "C" > $4)
			 order by key collate "C", id collate "C"
			 limit $5`, bucket, escapeLike(prefix)+"%", afterKey, afterID, limit)
	}
	found, err := rows(ctx, s, c, scan, `
		select id, key, created_at from storage.list_multipart_uploads_with_delimiter($1, $2, $3, $4, $5, '')`,
		bucket, escapeLike(prefix), delimiter, limit, afterKey)
	for i := range found {
		if rest, ok := strings.CutPrefix(found[i].Name, prefix); ok && strings.Contains(rest, delimiter) {
			found[i].ID = ""
		}
	}
	return found, err
}
