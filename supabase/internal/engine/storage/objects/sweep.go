package objects

import (
	"context"
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
func (s *Store) Sweep(ctx context.Context, age time.Duration) (Swept, error) {
	var out Swept
	before := s.now().Add(-age)
	var batch []backend.Key
	flush := func() error {
		orphans, err := s.orphans(ctx, batch)
		batch = batch[:0]
		if err != nil || len(orphans) == 0 {
			return err
		}
		out.Orphans += len(orphans)
		return s.Backend.Delete(ctx, orphans...)
	}
	err := s.Backend.Walk(ctx, func(e backend.Entry) error {
		if !e.Modified.Before(before) {
			return nil
		}
		if batch = append(batch, e.Key); len(batch) == sweepBatch {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
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

// orphans returns the keys that have no row.
func (s *Store) orphans(ctx context.Context, keys []backend.Key) ([]backend.Key, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	buckets, paths, versions := make([]string, len(keys)), make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		buckets[i], paths[i], versions[i] = k.Bucket, k.Name+"/"+k.Version, k.Version
	}
	// A version is a UUID, so it identifies its row even if the file system has changed the
	// spelling of the object's name.
	found, err := rows(ctx, s.base, Caller{}.Service(), pgx.RowTo[string], `
		select o.bucket_id || '/' || o.version
		  from storage.objects o
		 where o.bucket_id = any($1) and o.version = any($3)
		union all
		select o.bucket_id || '/' || split_part(o.name, '/', -1)
		  from storage.objects o
		 where o.bucket_id = any($1) and o.name = any($2) and o.version is null`, buckets, paths, versions)
	if err != nil {
		return nil, err
	}
	named := make(map[string]bool, len(found))
	for _, f := range found {
		named[f] = true
	}
	return slices.DeleteFunc(slices.Clone(keys), func(k backend.Key) bool { return named[k.Bucket+"/"+k.Version] }), nil
}
