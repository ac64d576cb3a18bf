package objects

import (
	"context"
	"errors"
	"slices"
	"time"

	"daawo/supabase/internal/engine/storage/backend"

	"github.com/jackc/pgx/v5"
)

// sweepBatch is the number of versions per query.
const sweepBatch = 500

// Swept counts what Sweep removed.
type Swept struct {
	Orphans   int // versions without a row
	Temporary int // interrupted writes
	Uploads   int // rows of abandoned multipart uploads
}

// Sweep removes what crashes and interrupted uploads have left, if it is older than age: bytes
// without a row of storage.objects, temporary files and multipart uploads. Younger versions stay,
// because their row may not be written yet. The rows are queried after the bytes were listed.
//
// It removes nothing from the files of another database (ErrForeignFiles). The first sweep of files
// without a mark only marks them.
func (s *Store) Sweep(ctx context.Context, age time.Duration) (Swept, error) {
	var out Swept
	owner, err := s.verify(ctx)
	if errors.Is(err, errUnmarked) {
		return out, s.adopt(ctx)
	}
	if err != nil {
		return out, err
	}
	before := s.now().Add(-age)
	err = s.batches(ctx, func(e backend.Entry) bool { return e.Modified.Before(before) }, func(keys []backend.Key) error {
		orphans, err := s.orphans(ctx, owner, keys)
		if err != nil || len(orphans) == 0 {
			return err
		}
		out.Orphans += len(orphans)
		return s.Backend.Delete(ctx, orphans...)
	})
	if err != nil {
		return out, MapError(err)
	}
	gone, err := s.pool.Exec(ctx, Caller{}.Service().session(),
		`delete from storage.s3_multipart_uploads where created_at < $1`, before)
	if err != nil {
		return out, MapError(err)
	}
	out.Uploads = int(gone)
	out.Temporary, err = s.Backend.SweepTemporary(ctx, before)
	return out, err
}

// batches calls fn with the keys of the chosen versions, sweepBatch at a time.
func (b *base) batches(ctx context.Context, choose func(backend.Entry) bool, fn func([]backend.Key) error) error {
	var batch []backend.Key
	err := b.Backend.Walk(ctx, func(e backend.Entry) error {
		if !choose(e) {
			return nil
		}
		if batch = append(batch, e.Key); len(batch) < sweepBatch {
			return nil
		}
		err := fn(batch)
		batch = batch[:0]
		return err
	})
	if err == nil && len(batch) > 0 {
		err = fn(batch)
	}
	return err
}

// orphans returns the keys that have no row. The database that answers must know the mark of the
// owner, unless that is empty.
func (b *base) orphans(ctx context.Context, owner mark, keys []backend.Key) ([]backend.Key, error) {
	buckets, paths, versions := make([]string, len(keys)), make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		buckets[i], paths[i], versions[i] = k.Bucket, k.Name+"/"+k.Version, k.Version
	}
	// A version is a UUID, so it identifies its row even if the file system has changed the
	// spelling of the object's name.
	found, err := rows(ctx, b, Caller{}.Service(), pgx.RowTo[string], `
		select o.bucket_id || '/' || o.version
		  from storage.objects o
		 where o.bucket_id = any($3) and o.version = any($5)
		union all
		select o.bucket_id || '/' || split_part(o.name, '/', -1)
		  from storage.objects o
		 where o.bucket_id = any($3) and o.name = any($4) and o.version is null
		union all
		select '/' where $2 = '' or `+knownMark, ownerToken(owner), owner.system, buckets, paths, versions)
	if err != nil {
		return nil, err
	}
	named := make(map[string]bool, len(found))
	for _, f := range found {
		named[f] = true
	}
	if !named["/"] {
		return nil, errUnknown(b.Backend)
	}
	return slices.DeleteFunc(slices.Clone(keys), func(k backend.Key) bool { return named[k.Bucket+"/"+k.Version] }), nil
}

// ownerToken returns the token, or null for the empty mark.
func ownerToken(m mark) *string {
	if m.token == "" {
		return nil
	}
	return &m.token
}
