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
