package objects

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/storage/backend"

	"github.com/google/uuid"
)

// Upload is one object to be written.
type Upload struct {
	Bucket, Name string
	Owner        string // the uploader's subject
	Upsert       bool
	ContentType  string
	CacheControl string
	XRobotsTag   string
	UserMetadata json.RawMessage // an object, or nil
	// Declared is the metadata in the request, for policies that check metadata.
	Declared  Declared
	Condition Condition
}

// UserMetadata returns raw if it is a JSON object. It returns an error for a list and for a string,
// which the column cannot hold, and nil for other values, which storage-api ignores.
func UserMetadata(raw []byte) (json.RawMessage, error) {
	var doc any
	if json.Unmarshal(raw, &doc) != nil {
		return nil, nil
	}
	switch v := doc.(type) {
	case map[string]any:
		return raw, nil
	case []any:
		if len(v) == 0 {
			return nil, nil
		}
	case string:
	default:
		return nil, nil
	}
	return nil, apierror.Errorf(400, "InvalidParameter", "invalid input syntax for type json")
}

// Declared is the metadata that policies see before the bytes have arrived.
type Declared struct {
	MimeType string          `json:"mimetype,omitempty"`
	Length   *int64          `json:"contentLength,omitempty"`
	Full     json.RawMessage `json:"-"` // replaces the two above
}

func (d Declared) json() any {
	if d.Full != nil {
		return d.Full
	}
	return d
}

const insertObject = `insert into storage.objects (name, bucket_id, owner, owner_id, metadata, user_metadata, version)
values ($1, $2, $3, $4, $5, $6, $7)`

const upsertObject = insertObject + `
on conflict (name, bucket_id) do update
set metadata = excluded.metadata, user_metadata = coalesce(excluded.user_metadata, objects.user_metadata),
	version = excluded.version,
    owner = coalesce(excluded.owner, objects.owner), owner_id = coalesce(excluded.owner_id, objects.owner_id)
returning ` + objectColumns

// upsertAsService is upsertObject as another prepared statement: a plan depends on the role.
const upsertAsService = upsertObject + ` -- as service_role`

// upsert returns a step that writes the row of a version. A nil user document is SQL null, not JSON
// null.
func upsert(to **Object, sql, bucket, name, owner, version string, metadata, user json.RawMessage) step {
	return objectRow(to, sql, text(name), text(bucket), nullableText(ownerUUID(owner)),
		nullableText(ownerID(owner)), metadata, user, text(version))
}

// attempt returns the steps that write the row as the caller and roll it back. They wait for other
// writers of the object: inserts that meet in several unique indexes can fail or deadlock, although
// they update on conflict.
func (u *Upload) attempt(c Caller) ([]step, error) {
	metadata, err := json.Marshal(u.Declared.json())
	if err != nil {
		return nil, err
	}
	write := statement(insertObject, text(u.Name), text(u.Bucket), nullableText(ownerUUID(u.Owner)),
		nullableText(ownerID(u.Owner)), metadata, u.UserMetadata, text("1"))
	if u.Upsert {
		var row *Object
		write = upsert(&row, upsertObject, u.Bucket, u.Name, u.Owner, "1", metadata, u.UserMetadata)
	}
	return []step{setCaller(c.session(lockTimeout)), lock(u.Bucket, u.Name), statement(`savepoint attempt`), write,
		statement(`rollback to savepoint attempt`)}, nil
}

// attemptError maps the database's error for the attempt.
func (u *Upload) attemptError(err error) error {
	err = lockError(err)
	if !u.Upsert && isCode(err, "ResourceAlreadyExists") {
		return errExists("KeyAlreadyExists").WithCause(err)
	}
	return err
}

// CanUpload returns an error if row level security does not let the caller write the object. It
// writes nothing.
func (s *Store) CanUpload(ctx context.Context, c Caller, u Upload) error {
	steps, err := u.attempt(c)
	if err != nil {
		return err
	}
	steps = append(append([]step{statement(`begin`)}, steps...), statement(`rollback`))
	return u.attemptError(s.pipeline(ctx, c.Role, steps...))
}

// Admission is an upload whose bucket is known and whose permissions have been checked.
type Admission struct {
	Bucket *Bucket
	store  *Store
	caller Caller
	upload Upload
	key    backend.Key
	denied error // permission or name error, returned by Upload
}

// Admit reads the bucket and checks with row level security whether the caller may write the
// object, in one round trip. It returns an error only if the bucket does not exist or the database
// fails. Upload reports permission and name errors, so that the protocols can report size and type
// errors first.
func (s *Store) Admit(ctx context.Context, c Caller, u Upload) (*Admission, error) {
	a := &Admission{store: s, caller: c, upload: u,
		key: backend.Key{Bucket: u.Bucket, Name: u.Name, Version: uuid.NewString()}}
	if a.denied = CheckName(u.Name); a.denied == nil {
		a.denied = MapError(a.key.Check())
	}
	var err error
	if a.denied != nil {
		a.Bucket, err = s.Buckets.Get(ctx, c.Service(), u.Bucket)
		return a, err
	}
	attempt, err := u.attempt(c)
	if err != nil {
		return nil, err
	}
	answered := false
	steps := append([]step{statement(`begin`), setCaller(Caller{}.Service().readSession()),
		bucketRow(&a.Bucket, &answered, u.Bucket)}, attempt...)
	err = s.pipeline(ctx, c.Role, append(steps, statement(`rollback`))...)
	switch {
	case !answered:
		return nil, err
	case a.Bucket == nil:
		return nil, errNoBucket()
	}
	a.denied = u.attemptError(err)
	return a, nil
}

// Upload writes the bytes and then the row. It returns ErrTooLarge if body has more than limit
// bytes.
func (a *Admission) Upload(ctx context.Context, body io.Reader, limit int64) (*Object, error) {
	if a.denied != nil {
		return nil, a.denied
	}
	s, u := a.store, a.upload
	bounded := &limited{r: body, left: limit}
	meta, err := s.Backend.Put(ctx, a.key, bounded,
		backend.Options{ContentType: u.ContentType, CacheControl: u.CacheControl})
	if bounded.exceeded {
		err = ErrTooLarge("object")
	}
	if err != nil {
		s.deleteVersion(ctx, a.key)
		return nil, MapError(err)
	}
	m := MetadataOf(meta)
	m.XRobotsTag = u.XRobotsTag
	user := u.UserMetadata
	if user == nil {
		user = json.RawMessage(`{}`)
	}
	o, err := s.Complete(ctx, a.caller, a.key, u, m, user)
	if err != nil {
		s.deleteRejected(ctx, a.key, err)
	}
	return o, err
}

// Complete writes the row of a stored version of u and deletes the bytes of the version that it
// replaces. It ignores the cancellation of ctx. On an error the new bytes stay: a resumable upload
// can be completed again later, and other uploads call deleteRejected.
func (s *Store) Complete(ctx context.Context, c Caller, key backend.Key, u Upload, m Metadata,
	user json.RawMessage) (*Object, error) {
	metadata, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return s.writeRow(ctx, c, key, u, metadata, user)
}

// writeRow is Complete with encoded metadata. It checks again that the caller may write the object:
// another one may have come since the upload began. All takes one transaction and one round trip.
func (s *Store) writeRow(ctx context.Context, c Caller, key backend.Key, u Upload, metadata,
	user json.RawMessage) (*Object, error) {
	ctx = context.WithoutCancel(ctx)
	service := c.Service()
	u.Bucket, u.Name = key.Bucket, key.Name
	var previous, object *Object
	attempt, err := u.attempt(c)
	if err != nil {
		return nil, err
	}
	if c.Role == service.Role && u.Upsert {
		attempt = []step{lock(key.Bucket, key.Name)} // it may write everything
	}
	s.step("write row")
	steps := append(append([]step{statement(`begin`)}, attempt...), setCaller(service.session(lockTimeout)))
	steps = append(append(steps, u.Condition.guard(key.Bucket, key.Name)...),
		objectRow(&previous, selectObject+` for update`, text(key.Bucket), text(key.Name)),
		upsert(&object, upsertAsService, key.Bucket, key.Name, u.Owner, key.Version, metadata, user),
		statement(`commit`))
	err = s.pipeline(ctx, c.Role, steps...)
	s.step("row written")
	if err = conditionError(u.attemptError(err)); err != nil {
		return nil, err
	}
	s.stored()
	if previous != nil && previous.Key() != key {
		s.deleteVersions(ctx, *previous)
	}
	return object, nil
}

// deleteRejected deletes the bytes of a version if err proves that the database did not write its
// row. If the connection or the server failed during the transaction, the row may have been
// written; the bytes then stay, and Sweep checks them.
func (b *base) deleteRejected(ctx context.Context, key backend.Key, err error) {
	if e, ok := pool.AsPgError(err); ok && !strings.HasPrefix(e.Code, "08") && !strings.HasPrefix(e.Code, "57P0") ||
		errors.Is(err, pool.ErrUnavailable) || isCode(err, "NoSuchKey") {
		b.deleteVersion(ctx, key)
	}
}

// deleteVersion deletes the bytes of a version that will have no row. If that fails, Sweep deletes
// them later.
func (b *base) deleteVersion(ctx context.Context, key backend.Key) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if err := b.Backend.Delete(ctx, key); err != nil {
		b.log.WarnContext(ctx, "storage: delete failed, left to sweep", "error", err)
	}
}

// deleteVersions deletes the bytes of objects whose rows have been deleted or replaced. It keeps
// the files of another database.
func (b *base) deleteVersions(ctx context.Context, deleted ...Object) {
	if len(deleted) == 0 {
		return
	}
	b.step("delete bytes")
	keys := make([]backend.Key, len(deleted))
	for i := range deleted {
		keys[i] = deleted[i].Key()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if !b.mayDelete(ctx) {
		return
	}
	if err := b.Backend.Delete(ctx, keys...); err != nil {
		b.log.WarnContext(ctx, "storage: delete failed, left to sweep", "error", err)
	}
}

// limited is a reader that fails once more than left bytes have been read.
type limited struct {
	r        io.Reader
	left     int64
	exceeded bool
}

func (l *limited) Read(p []byte) (int, error) {
	if l.exceeded {
		return 0, ErrTooLarge("object")
	}
	// Read one byte more than allowed, to detect a body that is too long.
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		l.exceeded = true
		return 0, ErrTooLarge("object")
	}
	return n, err
}
