package objects

import (
	"context"
	"encoding/json"
	"strings"

	"daawo/supabase/internal/engine/storage/backend"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
)

// deleteBatch is the number of objects that one statement deletes, as in storage-api.
const deleteBatch = 500

// Delete deletes one object as the caller. It returns 412 if the object has another ETag than etag;
// "" and "*" mean any.
func (s *Store) Delete(ctx context.Context, c Caller, bucket, name, etag string) error {
	if _, err := s.Object(ctx, c.Service(), bucket, name); err != nil {
		return err
	}
	deleted, err := rows(ctx, s.base, c, scanObject, `
		delete from storage.objects
		 where bucket_id = $1 and name = $2
		   and ($3 in ('', '*') or trim(both '"' from metadata ->> 'eTag') = $3)
		returning `+objectColumns, bucket, name, etag)
	if err != nil {
		return err
	}
	if len(deleted) == 0 {
		left, err := s.Object(ctx, c.Service(), bucket, name)
		if err != nil {
			return err // another request was faster
		}
		if m, _ := left.Meta(); etag != "" && etag != "*" && strings.Trim(m.ETag, `"`) != etag {
			return errPrecondition()
		}
		return ErrDenied("Access denied")
	}
	s.deleteVersions(ctx, deleted...)
	return nil
}

// DeleteMany deletes the named objects as far as the caller may delete them. It returns the deleted
// ones.
func (s *Store) DeleteMany(ctx context.Context, c Caller, bucket string, names []string) ([]Object, error) {
	var all []Object
	for len(names) > 0 {
		n := min(len(names), deleteBatch)
		deleted, err := rows(ctx, s.base, c, scanObject, `
			delete from storage.objects where bucket_id = $1 and name = any($2) returning `+objectColumns, bucket,
			names[:n])
		if err != nil {
			return nil, err
		}
		s.deleteVersions(ctx, deleted...)
		all = append(all, deleted...)
		names = names[n:]
	}
	return all, nil
}

// Copy describes a copy of an object.
type Copy struct {
	FromBucket, FromName string
	ToBucket, ToName     string
	Owner                string
	Upsert               bool
	// KeepMetadata copies both kinds of metadata; otherwise the fields below replace them. Without
	// Preserve, fields that are not set are removed (S3's REPLACE).
	KeepMetadata           bool
	Preserve               bool
	MimeType, CacheControl *string
	UserMetadata           json.RawMessage
	// Check, if set, may refuse the source before the copy (S3's conditions).
	Check func(*Object) error
	// Condition must be true of the target.
	Condition Condition
}

// Copy copies an object that the caller may read to a name that the caller may write.
func (s *Store) Copy(ctx context.Context, c Caller, p Copy) (*Object, error) {
	if err := CheckName(p.ToName); err != nil {
		return nil, err
	}
	key := backend.Key{Bucket: p.ToBucket, Name: p.ToName, Version: uuid.NewString()}
	if err := key.Check(); err != nil {
		return nil, MapError(err)
	}
	var copied *Object
	err := UseCurrent(func() (*Object, error) { return s.Object(ctx, c, p.FromBucket, p.FromName) },
		func(source *Object) (err error) {
			copied, err = s.copy(ctx, c, p, source, key)
			return err
		})
	return copied, err
}

func (s *Store) copy(ctx context.Context, c Caller, p Copy, source *Object, key backend.Key) (*Object, error) {
	if p.Check != nil {
		if err := p.Check(source); err != nil {
			return nil, err
		}
	}
	metadata, options, err := p.metadata(source)
	if err != nil {
		return nil, err
	}
	user := p.UserMetadata
	if p.KeepMetadata {
		user = source.UserMetadata
	}
	u := Upload{Bucket: p.ToBucket, Name: p.ToName, Owner: p.Owner, Upsert: p.Upsert, UserMetadata: user,
		Declared: Declared{Full: metadata}, Condition: p.Condition}
	if err := s.CanUpload(ctx, c, u); err != nil {
		return nil, err
	}
	if err := s.checkTarget(ctx, c, source, metadata, key); err != nil {
		return nil, err
	}
	meta, err := s.Backend.Copy(ctx, source.Key(), key, options)
	if err != nil {
		s.deleteVersion(ctx, key)
		return nil, MapError(err)
	}
	if metadata, err = merge(metadata,
		map[string]any{"eTag": meta.ETag, "lastModified": Timestamp(meta.Modified)}); err != nil {
		return nil, err
	}
	o, err := s.writeRow(ctx, c, key, u, metadata, user)
	if err != nil {
		s.deleteRejected(ctx, key, err)
	}
	return o, err
}

// checkTarget returns an error if the target's bucket does not allow the size of the source or the
// type in metadata.
func (s *Store) checkTarget(ctx context.Context, c Caller, source *Object, metadata json.RawMessage,
	target backend.Key) error {
	bucket, err := s.Buckets.Get(ctx, c.Service(), target.Bucket)
	if err != nil {
		return err
	}
	m, complete := (&Object{Metadata: metadata}).Meta()
	if !complete {
		stored, err := s.Backend.Head(ctx, source.Key())
		if err != nil {
			return MapError(err)
		}
		m.Size = &stored.Size
		if m.MimeType == "" {
			m.MimeType = stored.ContentType
		}
	}
	if IsFolderPlaceholder(target.Name) && *m.Size == 0 {
		return nil
	}
	if *m.Size > s.Buckets.Limit(bucket.SizeLimit) {
		return ErrTooLarge("object")
	}
	if len(bucket.AllowedTypes) > 0 {
		return CheckMimeType(m.MimeType, bucket.AllowedTypes)
	}
	return nil
}

// metadata returns the column metadata of the copy and the options that the backend must change
// (nil: none).
func (p Copy) metadata(source *Object) (json.RawMessage, *backend.Options, error) {
	base := source.Metadata
	if base == nil || p.KeepMetadata {
		if base == nil {
			base = json.RawMessage(`{}`)
		}
		return base, nil, nil
	}
	changes := map[string]any{}
	if !p.Preserve {
		changes["cacheControl"], changes["mimetype"] = nil, nil
	}
	if p.CacheControl != nil {
		changes["cacheControl"] = *p.CacheControl
	}
	if p.MimeType != nil {
		changes["mimetype"] = *p.MimeType
	}
	merged, err := merge(base, changes)
	if err != nil {
		return nil, nil, err
	}
	m, _ := (&Object{Metadata: merged}).Meta()
	return merged, &backend.Options{ContentType: m.MimeType, CacheControl: m.CacheControl}, nil
}

// merge sets keys of a JSON object; nil removes a key.
func merge(base json.RawMessage, changes map[string]any) (json.RawMessage, error) {
	doc := map[string]any{}
	if err := json.Unmarshal(base, &doc); err != nil || doc == nil {
		doc = map[string]any{}
	}
	for k, v := range changes {
		if v == nil {
			delete(doc, k)
		} else {
			doc[k] = v
		}
	}
	return json.Marshal(doc)
}

// Move renames an object, also into another bucket, as the caller. It returns the object at its new
// name.
func (s *Store) Move(ctx context.Context, c Caller, fromBucket, fromName, toBucket, toName string) (*Object, error) {
	if err := CheckName(toName); err != nil {
		return nil, err
	}
	key := backend.Key{Bucket: toBucket, Name: toName, Version: uuid.NewString()}
	if err := key.Check(); err != nil {
		return nil, MapError(err)
	}
	var moved *Object
	err := UseCurrent(func() (*Object, error) { return s.movable(ctx, c, fromBucket, fromName, key) },
		func(source *Object) (err error) {
			moved, err = s.move(ctx, c, source, key)
			return err
		})
	return moved, err
}

// movable reads an object that the caller may rename to key.
func (s *Store) movable(ctx context.Context, c Caller, bucket, name string, key backend.Key) (*Object, error) {
	from := []([]byte){text(bucket), text(name)}
	var seen *Object
	var changed int64
	rename := statement(`
		update storage.objects
		   set name = $3, bucket_id = $4, version = $5, owner = coalesce($6, owner), owner_id = coalesce($7, owner_id)
		 where bucket_id = $1 and name = $2`,
		append(from, text(key.Name), text(key.Bucket), text(key.Version), nullableText(ownerUUID(c.Subject)),
			nullableText(ownerID(c.Subject)))...)
	rename.read = func(rows *pgconn.ResultReader) error {
		tag, err := rows.Close()
		changed = tag.RowsAffected()
		return err
	}
	steps := append([]step{statement(`begin`), setCaller(c.session(lockTimeout))},
		lockBoth(bucket, name, key.Bucket, key.Name)...)
	err := lockError(s.pipeline(ctx, c.Role, append(steps,
		objectRow(&seen, selectObject, from...), rename, statement(`rollback`))...))
	if err == nil && (seen == nil || changed == 0) {
		err = ErrNoKey()
	}
	return seen, err
}

func (s *Store) move(ctx context.Context, c Caller, source *Object, key backend.Key) (*Object, error) {
	if source.Bucket == key.Bucket && source.Name == key.Name {
		return source, nil
	}
	if source.Bucket != key.Bucket {
		if err := s.checkTarget(ctx, c, source, source.Metadata, key); err != nil {
			return nil, err
		}
	}
	meta, err := s.Backend.Copy(ctx, source.Key(), key, nil)
	if err != nil {
		s.deleteVersion(ctx, key)
		return nil, MapError(err)
	}
	m := MetadataOf(meta)
	if old, _ := source.Meta(); old.XRobotsTag != "" {
		m.XRobotsTag = old.XRobotsTag
	}
	metadata, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	// An upload may have replaced the bytes since they were copied. The update then finds no row,
	// and UseCurrent retries.
	var moved *Object
	ctx = context.WithoutCancel(ctx)
	service := c.Service()
	s.step("write row")
	steps := append([]step{setCaller(service.session(lockTimeout))},
		lockBoth(source.Bucket, source.Name, key.Bucket, key.Name)...)
	err = s.pipeline(ctx, service.Role, append(steps,
		objectRow(&moved, `
			update storage.objects
			   set name = $3, bucket_id = $4, version = $5, metadata = $6,
			       owner = coalesce($7, owner), owner_id = coalesce($8, owner_id)
			 where bucket_id = $1 and name = $2 and version is not distinct from $9
			returning `+objectColumns,
			text(source.Bucket), text(source.Name), text(key.Name), text(key.Bucket), text(key.Version), metadata,
			nullableText(ownerUUID(c.Subject)), nullableText(ownerID(c.Subject)), nullableText(source.Version)))...)
	if err = lockError(err); err == nil && moved == nil {
		err = ErrNoKey().WithCause(backend.ErrNotFound)
	}
	if err != nil {
		s.deleteRejected(ctx, key, err)
		return nil, err
	}
	s.stored()
	s.deleteVersions(ctx, *source)
	return moved, nil
}
