package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/minio/minio-go/v7"
)

// A resumable upload is a multipart upload of the store. <key>.info describes it. <key>.part holds
// bytes that are too few for a part, and the offset at which they begin. When they become a part,
// the upload's offset no longer matches, so a crash before <key>.part is replaced does not count
// the bytes twice.

// s3Upload is the content of <key>.info.
type s3Upload struct {
	UploadID string          `json:"upload_id"`
	Options  Options         `json:"options"`
	Info     json.RawMessage `json:"info"`
}

// offsetHeader is the user metadata of <key>.part with its offset.
const offsetHeader = "Begins-At"

// Begin creates the multipart upload.
func (s *S3) Begin(ctx context.Context, key Key, o Options, info []byte) error {
	id, err := s.CreateMultipart(ctx, key, o)
	if err != nil {
		return err
	}
	return s.putUpload(ctx, key, s3Upload{UploadID: id, Options: o, Info: info})
}

func (s *S3) putUpload(ctx context.Context, key Key, u s3Upload) error {
	name, err := s.key(key)
	if err != nil {
		return err
	}
	data, err := json.Marshal(u)
	if err != nil {
		return err
	}
	_, err = s.core.Client.PutObject(ctx, s.bucket, name+".info", bytes.NewReader(data), int64(len(data)),
		minio.PutObjectOptions{ContentType: "application/json"})
	return storeError(err)
}

func (s *S3) upload(ctx context.Context, key Key) (name string, u s3Upload, err error) {
	if name, err = s.key(key); err != nil {
		return "", u, err
	}
	body, _, _, err := s.core.GetObject(ctx, s.bucket, name+".info", minio.GetObjectOptions{})
	if err != nil {
		return "", u, storeError(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		return "", u, err
	}
	return name, u, json.Unmarshal(data, &u)
}

// Info returns the description and the size of all parts.
func (s *S3) Info(ctx context.Context, key Key) ([]byte, int64, error) {
	name, u, err := s.upload(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	_, sum, err := s.parts(ctx, name, u.UploadID)
	if errors.Is(err, ErrNotFound) { // complete
		meta, err := s.Head(ctx, key)
		return u.Info, meta.Size, err
	}
	if err != nil {
		return nil, 0, err
	}
	rest, err := s.rest(ctx, name, sum)
	return u.Info, sum + int64(len(rest)), err
}

// parts returns the stored parts and the sum of their sizes.
func (s *S3) parts(ctx context.Context, name, uploadID string) (list []Part, sum int64, err error) {
	marker := 0
	for {
		page, err := s.core.ListObjectParts(ctx, s.bucket, name, uploadID, marker, 1000)
		if err != nil {
			return nil, 0, storeError(err)
		}
		for _, p := range page.ObjectParts {
			list = append(list, Part{Number: p.PartNumber, ETag: p.ETag, Size: p.Size})
			sum += p.Size
		}
		if !page.IsTruncated || page.NextPartNumberMarker <= marker {
			return list, sum, nil
		}
		marker = page.NextPartNumberMarker
	}
}

// rest returns the content of <key>.part if it begins at the given offset.
func (s *S3) rest(ctx context.Context, name string, at int64) ([]byte, error) {
	body, info, _, err := s.core.GetObject(ctx, s.bucket, name+".part", minio.GetObjectOptions{})
	if err = storeError(err); errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if info.UserMetadata[offsetHeader] != strconv.FormatInt(at, 10) {
		return nil, nil
	}
	return io.ReadAll(io.LimitReader(body, partBytes))
}

// SetInfo replaces the description.
func (s *S3) SetInfo(ctx context.Context, key Key, info []byte) error {
	_, u, err := s.upload(ctx, key)
	if err != nil {
		return err
	}
	u.Info = info
	return s.putUpload(ctx, key, u)
}

// Append uploads full parts. It stores the rest in <key>.part, or uploads it as the last part.
func (s *S3) Append(ctx context.Context, key Key, offset int64, body io.Reader, last func(int64) bool) (int64, error) {
	name, u, err := s.upload(ctx, key)
	if err != nil {
		return 0, err
	}
	parts, sum, err := s.parts(ctx, name, u.UploadID)
	if err != nil {
		return 0, err
	}
	buffer, err := s.rest(ctx, name, sum)
	if err != nil {
		return 0, err
	}
	if sum+int64(len(buffer)) != offset {
		return 0, fmt.Errorf("upload has %d bytes, not %d", sum+int64(len(buffer)), offset)
	}
	buffer = append(make([]byte, 0, partBytes), buffer...)
	durable := offset // bytes that survive a crash
	number := len(parts) + 1
	for {
		n, readErr := io.ReadFull(body, buffer[len(buffer):partBytes])
		buffer = buffer[:len(buffer)+n]
		done := readErr != nil
		if errors.Is(readErr, io.EOF) || errors.Is(readErr, io.ErrUnexpectedEOF) {
			readErr = nil
		}
		total := sum + int64(len(buffer))
		complete := readErr == nil && done && last(total-offset)
		switch {
		case len(buffer) >= minPart || complete && len(buffer) > 0:
			if _, err := s.PutPart(ctx, key, u.UploadID, number, bytes.NewReader(buffer),
				int64(len(buffer))); err != nil {
				return durable - offset, err
			}
			number++
			sum, durable, buffer = total, total, buffer[:0]
		case done && total > durable:
			_, err := s.core.Client.PutObject(ctx, s.bucket, name+".part", bytes.NewReader(buffer), int64(len(buffer)),
				minio.PutObjectOptions{UserMetadata: map[string]string{offsetHeader: strconv.FormatInt(sum, 10)}})
			if err != nil {
				return durable - offset, storeError(err)
			}
			durable = total
		}
		if done {
			return durable - offset, readErr
		}
	}
}

// Finish joins the parts. The bytes of <key>.part become the last one: the length of the upload was
// given after them, or the server has crashed.
func (s *S3) Finish(ctx context.Context, key Key) (Meta, error) {
	name, u, err := s.upload(ctx, key)
	if err != nil {
		return Meta{}, err
	}
	parts, sum, err := s.parts(ctx, name, u.UploadID)
	if errors.Is(err, ErrNotFound) { // the parts were joined and the reply was lost
		return s.Head(ctx, key)
	}
	if err != nil {
		return Meta{}, err
	}
	rest, err := s.rest(ctx, name, sum)
	if err != nil {
		return Meta{}, err
	}
	if sum+int64(len(rest)) == 0 { // not all stores accept an empty part
		meta, err := s.Put(ctx, key, bytes.NewReader(nil), u.Options)
		if err != nil {
			return Meta{}, err
		}
		return meta, s.AbortMultipart(ctx, key, u.UploadID)
	}
	if len(rest) > 0 {
		last, err := s.PutPart(ctx, key, u.UploadID, len(parts)+1, bytes.NewReader(rest), int64(len(rest)))
		if err != nil {
			return Meta{}, err
		}
		parts = append(parts, last)
	}
	meta, err := s.CompleteMultipart(ctx, key, u.UploadID, parts)
	if err != nil {
		return Meta{}, err
	}
	return meta, s.remove(ctx, name+".part")
}

// Discard deletes the parts and the description.
func (s *S3) Discard(ctx context.Context, key Key) error {
	_, u, err := s.upload(ctx, key)
	if err != nil {
		return err
	}
	if err := s.AbortMultipart(ctx, key, u.UploadID); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return s.Delete(ctx, key)
}
