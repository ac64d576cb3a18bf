package backend

import (
	"bytes"
	"context"
	"io"
	"path"
	"path/filepath"

	"github.com/minio/minio-go/v7"
)

// marked is the folder of the marks below the root of a Disk, one for each tenant. No backup
// contains it: a restored installation is marked again.
const marked = ".database"

func (d *Disk) markName() string { return path.Join(marked, d.prefix) }

// Mark reads the mark.
func (d *Disk) Mark(context.Context) ([]byte, error) {
	content, err := d.root.ReadFile(d.markName())
	if err != nil {
		return nil, keyError(err, d.markName())
	}
	return content, nil
}

// SetMark writes the mark as a version is written.
func (d *Disk) SetMark(ctx context.Context, content []byte) error {
	_, err := d.write(d.markName(), d.hashed(ctx, bytes.NewReader(content)), Options{})
	return err
}

// MarkPlace returns the path of the mark.
func (d *Disk) MarkPlace() string {
	return filepath.Join(d.root.Name(), filepath.FromSlash(d.markName()))
}

func (s *S3) markName() string { return s.tenant + "/" + marked }

// Mark reads the mark.
func (s *S3) Mark(ctx context.Context) ([]byte, error) {
	o, err := s.core.Client.GetObject(ctx, s.bucket, s.markName(), minio.GetObjectOptions{})
	if err != nil {
		return nil, storeError(err)
	}
	defer o.Close()
	content, err := io.ReadAll(io.LimitReader(o, 1000))
	return content, storeError(err)
}

// SetMark writes the mark.
func (s *S3) SetMark(ctx context.Context, content []byte) error {
	_, err := s.core.Client.PutObject(ctx, s.bucket, s.markName(), bytes.NewReader(content), int64(len(content)),
		Options{ContentType: "text/plain"}.withDefaults().put())
	return storeError(err)
}

// MarkPlace returns the URL of the mark.
func (s *S3) MarkPlace() string { return "s3://" + s.bucket + "/" + s.markName() }
