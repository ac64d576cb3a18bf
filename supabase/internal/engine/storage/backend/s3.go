package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// partBytes is the part size of large uploads to the store, and the memory that one upload uses.
const partBytes = 8 << 20

// minPart is the smallest part that S3 accepts, except for the last part.
const minPart = 5 << 20

// S3 stores versions in one bucket of an S3-compatible store.
type S3 struct {
	core   minio.Core
	bucket string
	tenant string
}

// S3Config configures an S3 backend.
type S3Config struct {
	Endpoint  string // URL without a path; "" means AWS in Region
	Region    string
	Bucket    string // GLOBAL_S3_BUCKET of storage-api; it must exist
	Tenant    string // TENANT_ID of storage-api
	AccessKey string // "" uses the AWS credentials of the environment
	SecretKey string
	PathStyle bool
}

// OpenS3 returns an S3 backend. It does not connect to the store.
func OpenS3(c S3Config) (*S3, error) {
	endpoint := c.Endpoint
	if endpoint == "" {
		endpoint = "https://s3." + c.Region + ".amazonaws.com"
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("storage: %q is not an S3 endpoint URL", c.Endpoint)
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, fmt.Errorf("storage: the S3 endpoint %q has a path, which is not supported: remove what "+
			"follows the host", c.Endpoint)
	}
	if c.Bucket == "" || c.Tenant == "" {
		return nil, errors.New("storage: the S3 backend needs a bucket and a tenant")
	}
	creds := credentials.NewStaticV4(c.AccessKey, c.SecretKey, "")
	if c.AccessKey == "" {
		creds = credentials.NewEnvAWS()
	}
	lookup := minio.BucketLookupAuto
	if c.PathStyle {
		lookup = minio.BucketLookupPath
	}
	client, err := minio.New(u.Host, &minio.Options{Creds: creds, Secure: u.Scheme == "https", Region: c.Region,
		BucketLookup: lookup})
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	return &S3{core: minio.Core{Client: client}, bucket: c.Bucket, tenant: c.Tenant}, nil
}

func (s *S3) key(k Key) (string, error) {
	if _, err := k.relative(); err != nil {
		return "", err
	}
	name := s.tenant + "/" + k.Bucket + "/" + k.Name
	if k.Version != "" {
		name += "/" + k.Version
	}
	return name, nil
}

// storeError maps an error of the store to the errors of this package.
func storeError(err error) error {
	if err == nil {
		return nil
	}
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	switch minio.ToErrorResponse(err).Code {
	case "SlowDown", "ServiceUnavailable":
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case "NoSuchKey", "NoSuchUpload", "NotFound":
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case "InvalidPart", "InvalidPartOrder":
		return fmt.Errorf("%w: %w", ErrPart, err)
	case "XMinioInvalidObjectName", "InvalidObjectName", "KeyTooLongError":
		return fmt.Errorf("%w: %w", ErrInvalidKey, err)
	}
	return err
}

func (o Options) put() minio.PutObjectOptions {
	return minio.PutObjectOptions{ContentType: o.ContentType, CacheControl: o.CacheControl, PartSize: partBytes,
		DisableMultipart: false}
}

// Put sends small bodies in one request and large bodies in parts. S3 shows an object only after it
// is complete.
func (s *S3) Put(ctx context.Context, key Key, body io.Reader, o Options) (Meta, error) {
	name, err := s.key(key)
	if err != nil {
		return Meta{}, err
	}
	o = o.withDefaults()
	head, err := io.ReadAll(io.LimitReader(body, partBytes))
	if err != nil {
		return Meta{}, err
	}
	var info minio.UploadInfo
	if len(head) < partBytes {
		options := o.put()
		options.DisableContentSha256 = len(head) == 0 // minio-go would send signed chunks without Content-Length
		info, err = s.core.Client.PutObject(ctx, s.bucket, name, bytes.NewReader(head), int64(len(head)), options)
	} else {
		info, err = s.core.Client.PutObject(ctx, s.bucket, name, io.MultiReader(bytes.NewReader(head), body), -1,
			o.put())
	}
	if err != nil {
		return Meta{}, storeError(err)
	}
	// A store that does not know the encoding of signed chunks keeps it as content.
	meta, err := s.Head(ctx, key)
	if err == nil && meta.Size != info.Size {
		err = errors.Join(fmt.Errorf("the store has %d bytes of a file of %d", meta.Size, info.Size), s.Delete(ctx, key))
	}
	return Meta{Size: meta.Size, ETag: quoted(info.ETag), ContentType: o.ContentType, CacheControl: o.CacheControl,
		Modified: meta.Modified}, err
}

// Open opens a range of a version for reading.
func (s *S3) Open(ctx context.Context, key Key, offset, length int64) (io.ReadCloser, error) {
	name, err := s.key(key)
	if err != nil {
		return nil, err
	}
	if length == 0 {
		_, err := s.Head(ctx, key)
		return io.NopCloser(bytes.NewReader(nil)), err
	}
	var o minio.GetObjectOptions
	switch {
	case length > 0:
		err = o.SetRange(offset, offset+length-1)
	case offset > 0:
		err = o.SetRange(offset, 0)
	}
	if err != nil {
		return nil, err
	}
	body, _, _, err := s.core.GetObject(ctx, s.bucket, name, o)
	return body, storeError(err)
}

// Head queries the metadata of a version.
func (s *S3) Head(ctx context.Context, key Key) (Meta, error) {
	name, err := s.key(key)
	if err != nil {
		return Meta{}, err
	}
	stat, err := s.core.Client.StatObject(ctx, s.bucket, name, minio.StatObjectOptions{})
	if err != nil {
		return Meta{}, storeError(err)
	}
	o := Options{ContentType: stat.ContentType, CacheControl: stat.Metadata.Get("Cache-Control")}.withDefaults()
	return Meta{Size: stat.Size, ETag: quoted(stat.ETag), ContentType: o.ContentType, CacheControl: o.CacheControl,
		Modified: stat.LastModified}, nil
}

// Copy makes the store copy a version.
func (s *S3) Copy(ctx context.Context, from, to Key, o *Options) (Meta, error) {
	source, err := s.key(from)
	if err != nil {
		return Meta{}, err
	}
	target, err := s.key(to)
	if err != nil {
		return Meta{}, err
	}
	metadata := map[string]string{}
	if o != nil {
		full := o.withDefaults()
		metadata = map[string]string{"x-amz-metadata-directive": "REPLACE", "Content-Type": full.ContentType,
			"Cache-Control": full.CacheControl}
	}
	if _, err := s.core.CopyObject(ctx, s.bucket, source, s.bucket, target, metadata,
		minio.CopySrcOptions{Bucket: s.bucket, Object: source}, minio.PutObjectOptions{}); err != nil {
		return Meta{}, storeError(err)
	}
	return s.Head(ctx, to)
}

// Delete removes versions and the descriptions of their uploads.
func (s *S3) Delete(ctx context.Context, keys ...Key) error {
	var names []string
	for _, k := range keys {
		name, err := s.key(k)
		if err != nil {
			return err
		}
		names = append(names, name)
		if k.Version != "" {
			names = append(names, name+".info", name+".part")
		}
	}
	return s.remove(ctx, names...)
}

func (s *S3) remove(ctx context.Context, names ...string) error {
	var errs []error
	for batch := range slices.Chunk(names, 1000) {
		ch := make(chan minio.ObjectInfo, len(batch))
		for _, name := range batch {
			ch <- minio.ObjectInfo{Key: name}
		}
		close(ch)
		for failed := range s.core.Client.RemoveObjects(ctx, s.bucket, ch, minio.RemoveObjectsOptions{}) {
			if err := storeError(failed.Err); err != nil && !errors.Is(err, ErrNotFound) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// URL returns a presigned URL.
func (s *S3) URL(ctx context.Context, key Key) (string, error) {
	name, err := s.key(key)
	if err != nil {
		return "", err
	}
	u, err := s.core.Client.PresignedGetObject(ctx, s.bucket, name, time.Minute, nil)
	if err != nil {
		return "", storeError(err)
	}
	return u.String(), nil
}

// Walk calls fn for every object of the tenant. The files of a resumable upload count as entries of
// their version.
func (s *S3) Walk(ctx context.Context, fn func(Entry) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for o := range s.core.Client.ListObjects(ctx, s.bucket,
		minio.ListObjectsOptions{Prefix: s.tenant + "/", Recursive: true}) {
		if o.Err != nil {
			return storeError(o.Err)
		}
		rest := strings.Split(strings.TrimPrefix(o.Key, s.tenant+"/"), "/")
		if len(rest) < 3 {
			continue
		}
		version := strings.TrimSuffix(strings.TrimSuffix(rest[len(rest)-1], ".info"), ".part")
		key := Key{Bucket: rest[0], Name: strings.Join(rest[1:len(rest)-1], "/"), Version: version}
		if err := fn(Entry{Key: key, Modified: o.LastModified}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// SweepTemporary aborts multipart uploads that were created before that time.
func (s *S3) SweepTemporary(ctx context.Context, before time.Time) (int, error) {
	removed := 0
	for u := range s.core.Client.ListIncompleteUploads(ctx, s.bucket, s.tenant+"/", true) {
		if u.Err != nil {
			return removed, storeError(u.Err)
		}
		if !u.Initiated.Before(before) {
			continue
		}
		if err := storeError(s.core.AbortMultipartUpload(ctx, s.bucket, u.Key, u.UploadID)); err != nil &&
			!errors.Is(err, ErrNotFound) {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// CreateMultipart creates a multipart upload.
func (s *S3) CreateMultipart(ctx context.Context, key Key, o Options) (string, error) {
	name, err := s.key(key)
	if err != nil {
		return "", err
	}
	id, err := s.core.NewMultipartUpload(ctx, s.bucket, name, o.withDefaults().put())
	return id, storeError(err)
}

// PutPart stores one part.
func (s *S3) PutPart(ctx context.Context, key Key, uploadID string, number int, body io.Reader, size int64) (Part,
	error) {
	name, err := s.key(key)
	if err != nil {
		return Part{}, err
	}
	part, err := s.core.PutObjectPart(ctx, s.bucket, name, uploadID, number, body, size,
		minio.PutObjectPartOptions{DisableContentSha256: true})
	return Part{Number: number, ETag: quoted(part.ETag), Size: size}, storeError(err)
}

// CopyPart makes the store copy a range. If the store does not implement that, CopyPart downloads
// and uploads the range.
func (s *S3) CopyPart(ctx context.Context, key Key, uploadID string, number int, from Key, offset, length int64) (Part,
	time.Time, error) {
	name, err := s.key(key)
	if err != nil {
		return Part{}, time.Time{}, err
	}
	source, err := s.key(from)
	if err != nil {
		return Part{}, time.Time{}, err
	}
	copied, err := s.core.CopyObjectPart(ctx, s.bucket, source, s.bucket, name, uploadID, number, offset, length, nil)
	if code := minio.ToErrorResponse(err).Code; code == "NotImplemented" || code == "MissingContentLength" {
		body, err := s.Open(ctx, from, offset, length)
		if err != nil {
			return Part{}, time.Time{}, err
		}
		defer body.Close()
		part, err := s.PutPart(ctx, key, uploadID, number, body, length)
		return part, time.Now(), err
	}
	return Part{Number: number, ETag: quoted(copied.ETag), Size: length}, time.Now(), storeError(err)
}

// CompleteMultipart joins the parts.
func (s *S3) CompleteMultipart(ctx context.Context, key Key, uploadID string, parts []Part) (Meta, error) {
	name, err := s.key(key)
	if err != nil {
		return Meta{}, err
	}
	list := make([]minio.CompletePart, len(parts))
	for i, p := range parts {
		list[i] = minio.CompletePart{PartNumber: p.Number, ETag: p.ETag}
	}
	done, err := s.core.CompleteMultipartUpload(ctx, s.bucket, name, uploadID, list, minio.PutObjectOptions{})
	if err != nil {
		return Meta{}, storeError(err)
	}
	meta, err := s.Head(ctx, key)
	meta.ETag = quoted(done.ETag)
	return meta, err
}

// AbortMultipart deletes the upload and its parts.
func (s *S3) AbortMultipart(ctx context.Context, key Key, uploadID string) error {
	name, err := s.key(key)
	if err != nil {
		return err
	}
	return storeError(s.core.AbortMultipartUpload(ctx, s.bucket, name, uploadID))
}

// quoted returns an ETag in its quotes, with or without which minio-go returns it.
func quoted(etag string) string { return `"` + strings.Trim(etag, `"`) + `"` }
