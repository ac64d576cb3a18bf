package physical

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket is a Store in S3 or an S3-compatible service.
type bucket struct {
	client *minio.Client
	name   string
	prefix string // empty, or ends with a slash
}

// openS3 opens s3://bucket/prefix?endpoint=host[:port]&region=…&insecure=1. The
// default endpoint is Amazon's. insecure means plain HTTP. The keys come from
// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, never from the address.
func openS3(u *url.URL) (Store, error) {
	if u.User != nil {
		return nil, errors.New("backup: the bucket address contains keys: set AWS_ACCESS_KEY_ID and " +
			"AWS_SECRET_ACCESS_KEY instead")
	}
	q := u.Query()
	endpoint := q.Get("endpoint")
	if endpoint == "" {
		endpoint = "s3.amazonaws.com"
	}
	client, err := minio.New(endpoint, &minio.Options{
		Creds:  credentials.NewEnvAWS(),
		Secure: q.Get("insecure") == "",
		Region: q.Get("region"),
	})
	if err != nil {
		return nil, fmt.Errorf("backup bucket: %w", err)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return bucket{client, u.Host, prefix}, nil
}

func (b bucket) String() string { return "s3://" + b.name + "/" + b.prefix }

// partSize limits the memory of an upload of unknown length.
const partSize = 16 << 20

// Put also asks for the object's size: a proxy or a service can confirm an object that it lacks,
// and the log of the database is removed once it is stored.
func (b bucket) Put(ctx context.Context, name string, r io.Reader) error {
	sent, err := b.client.PutObject(ctx, b.name, b.prefix+name, r, -1, minio.PutObjectOptions{
		PartSize: partSize, NumThreads: 1,
		// Some services do not support chunked signatures. The names already
		// carry checksums.
		DisableContentSha256: true,
	})
	if err != nil {
		return err
	}
	stored, err := b.client.StatObject(ctx, b.name, b.prefix+name, minio.StatObjectOptions{})
	if err != nil {
		return fmt.Errorf("%s confirmed %s: %w", b, name, err)
	}
	if stored.Size != sent.Size {
		return fmt.Errorf("%s confirmed %s, but stored %d of %d bytes", b, name, stored.Size, sent.Size)
	}
	return nil
}

func (b bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	o, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	if _, err := o.Stat(); err != nil {
		o.Close()
		if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
			return nil, fmt.Errorf("%s%s: %w", b, name, fs.ErrNotExist)
		}
		return nil, err
	}
	return o, nil
}

func (b bucket) List(ctx context.Context, prefix string) ([]string, error) {
	var names []string
	for o := range b.client.ListObjects(ctx, b.name,
		minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, o.Err
		}
		names = append(names, strings.TrimPrefix(o.Key, b.prefix))
	}
	slices.Sort(names)
	return names, nil
}

func (b bucket) Delete(ctx context.Context, name string) error {
	return b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{})
}
