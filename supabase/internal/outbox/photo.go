package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"daawo/supabase/internal/db"

	"github.com/riverqueue/river"
)

// Storage is how the storage service is reached with the service's rights.
type Storage struct {
	URL string        // up to and without /storage/v1
	Key func() string // service_role token; keys are rotated while it runs
}

// workCleanPhoto takes the metadata out of a stored photo. It goes through the storage API, so that it works the same
// with files on disk, on S3, and with the official service.
func (b *Outbox) workCleanPhoto(ctx context.Context, job *river.Job[cleanPhoto]) error {
	if b.Clean == nil || b.Storage.URL == "" {
		return errors.New("photos cannot be cleaned here: no storage service is known")
	}
	content, err := b.Storage.download(ctx, job.Args.Bucket, job.Args.Name)
	if err != nil || content == nil {
		return err // nil: deleted meanwhile, nothing to clean
	}
	clean, mime, removed := b.Clean(content)
	if removed && !bytes.Equal(clean, content) {
		if err := b.Storage.replace(ctx, job.Args.Bucket, job.Args.Name, mime, clean); err != nil {
			return err
		}
	}
	// Whoever reviews the report has to know of a photo that keeps its metadata.
	_, err = b.DB.Exec(ctx, db.Caller{Role: "service_role"}, `select private.photo_cleaned($1, $2, $3)`,
		job.Args.Bucket, job.Args.Name, removed)
	return err
}

// maxObject bounds what is read into memory; the bucket's own limit is far below.
const maxObject = 64 << 20

func (s Storage) do(ctx context.Context, method, bucket, name, mime string, body []byte) (*http.Response, context.CancelFunc, error) {
	ctx, cancel := context.WithTimeout(ctx, 45*time.Second)
	address := s.URL + "/storage/v1/object/" + url.PathEscape(bucket) + "/" + url.PathEscape(name)
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		cancel()
		return nil, nil, err
	}
	key := s.Key()
	req.Header.Set("Apikey", key)
	req.Header.Set("Authorization", "Bearer "+key)
	if mime != "" {
		req.Header.Set("Content-Type", mime)
		req.Header.Set("X-Upsert", "true")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("storage: %w", err)
	}
	return res, cancel, nil
}

// download gives an object's content, nil when there is none of that name.
func (s Storage) download(ctx context.Context, bucket, name string) ([]byte, error) {
	res, cancel, err := s.do(ctx, http.MethodGet, bucket, name, "", nil)
	if err != nil {
		return nil, err
	}
	defer cancel()
	defer res.Body.Close()
	content, err := io.ReadAll(io.LimitReader(res.Body, maxObject))
	switch {
	case err != nil:
		return nil, fmt.Errorf("storage: %w", err)
	case res.StatusCode == http.StatusOK:
		return content, nil
	case bytes.Contains(content, []byte(`"404"`)) || res.StatusCode == http.StatusNotFound:
		return nil, nil // the service says 400 and gives the real code in the body
	}
	return nil, fmt.Errorf("storage: reading %s/%s: %s", bucket, name, res.Status)
}

func (s Storage) replace(ctx context.Context, bucket, name, mime string, content []byte) error {
	res, cancel, err := s.do(ctx, http.MethodPost, bucket, name, mime, content)
	if err != nil {
		return err
	}
	defer cancel()
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16))
	if res.StatusCode >= 300 {
		return fmt.Errorf("storage: replacing %s/%s: %s", bucket, name, res.Status)
	}
	return nil
}
