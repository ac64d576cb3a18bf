package submitreport

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"daawo/supabase/edge"

	"github.com/jackc/pgx/v5"
)

// cleanPhotoJob removes the metadata (place, time, camera) of a report's photo after the report was
// stored.
const cleanPhotoJob = "clean-photo"

// photoArgs are the job's arguments.
type photoArgs struct {
	Name string `json:"name"` // in the bucket of photos
}

// cleanPhoto replaces a stored photo by a clean one and records in its report whether the metadata
// could be removed. It uses the storage API, so it works the same with files on disk, on S3, and
// with Supabase's own service.
func cleanPhoto(ctx context.Context, env *edge.Env, args []byte) error {
	var photo photoArgs
	if err := json.Unmarshal(args, &photo); err != nil {
		return err
	}
	content, err := env.Download(ctx, photoBucket, photo.Name)
	if e, ok := edge.AsError(err); ok && e.Status == http.StatusNotFound {
		return nil // deleted since
	}
	if err != nil {
		return err
	}
	clean, contentType, removed, err := decode(ctx, env, content)
	if err != nil {
		return err
	}
	if removed && !bytes.Equal(clean, content) {
		if err := env.Replace(ctx, photoBucket, photo.Name, contentType, clean); err != nil {
			return err
		}
	}
	return env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		// The report's reviewer must know if the photo still holds its metadata.
		_, err := tx.Exec(ctx, `select private.photo_cleaned($1, $2, $3)`, photoBucket, photo.Name, removed)
		return err
	})
}

// missed is the number of jobs that enqueueMissed adds at once.
const missed = 500

// enqueueMissed adds the cleaning job of each photo that waits for it without a job. An import
// leaves such photos, because an export has no jobs. Jobs that failed for good are left to the
// administrator.
func enqueueMissed(ctx context.Context, env *edge.Env) error {
	const q = `
select r.photo_url
  from public.reports as r
  join storage.objects as o on o.bucket_id = $1 and o.name = r.photo_url
 where r.photo_metadata = 'pending'
   and not exists (
     select from river.river_job as j
      where j.state <> 'completed'
        and (j.kind = 'clean_photo' or j.kind = 'function_job' and j.args ->> 'job' = 'clean-photo')
        and coalesce(j.args #>> '{args,name}', j.args ->> 'name') = r.photo_url)
 order by r.created_at
 limit $2`
	for {
		var names []string
		err := env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, q, photoBucket, missed)
			if err != nil {
				return err
			}
			if names, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
				return err
			}
			for _, name := range names {
				if err := env.Enqueue(ctx, tx, cleanPhotoJob, photoArgs{name}, edge.Unique(name)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(names) < missed {
			return err
		}
	}
}

// decoding holds a value while a picture is decoded. That may take 256 MB: several at once would
// use up a small server's memory.
var decoding = make(chan struct{}, 1)

// decode returns the result of Env.CleanImage when no other picture is being decoded.
func decode(ctx context.Context, env *edge.Env, content []byte) (clean []byte, contentType string, ok bool, err error) {
	select {
	case decoding <- struct{}{}:
	case <-ctx.Done():
		return nil, "", false, ctx.Err()
	}
	defer func() { <-decoding }()
	clean, contentType, ok = env.CleanImage(content)
	return clean, contentType, ok, nil
}
