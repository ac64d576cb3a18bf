package backend

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Multipart uploads are stored in
// multiparts/<upload>/<bucket>/<tenant>/<bucket>/<name>/<version>/part-N, as in storage-api.

// multipartOptions is the content of metadata.json.
type multipartOptions struct {
	ContentType  string `json:"contentType"`
	CacheControl string `json:"cacheControl"`
}

func (d *Disk) multipartDir(key Key, uploadID string) (string, error) {
	upload, err := uploadPath(uploadID)
	if err != nil {
		return "", err
	}
	name, err := d.path(key)
	if err != nil {
		return "", err
	}
	return path.Join(upload, name), nil
}

// CreateMultipart creates the folder of the parts.
func (d *Disk) CreateMultipart(_ context.Context, key Key, o Options) (string, error) {
	id := uuid.NewString()
	dir, err := d.multipartDir(key, id)
	if err != nil {
		return "", err
	}
	d.step("begin multipart")
	if _, err := d.mkdir(dir); err != nil {
		return "", keyError(err, dir)
	}
	data, err := json.Marshal(multipartOptions(o))
	if err != nil {
		return "", err
	}
	if err := d.root.WriteFile(path.Join(dir, "metadata.json"), data, 0o640); err != nil {
		return "", err
	}
	return id, nil
}

// PutPart stores one part. It replaces a part with the same number.
func (d *Disk) PutPart(ctx context.Context, key Key, uploadID string, number int, body io.Reader, _ int64) (Part,
	error) {
	dir, err := d.multipartDir(key, uploadID)
	if err != nil {
		return Part{}, err
	}
	if _, err := d.root.Stat(dir); err != nil {
		return Part{}, keyError(err, dir)
	}
	meta, err := d.write(path.Join(dir, "part-"+strconv.Itoa(number)), d.hashed(ctx, body), Options{})
	if err != nil {
		return Part{}, err
	}
	return Part{Number: number, ETag: strings.Trim(meta.ETag, `"`), Size: meta.Size}, nil
}

// CopyPart copies a range of a version into a part.
func (d *Disk) CopyPart(ctx context.Context, key Key, uploadID string, number int, from Key, offset,
	length int64) (Part, time.Time, error) {
	body, err := d.Open(ctx, from, offset, length)
	if err != nil {
		return Part{}, time.Time{}, err
	}
	defer body.Close()
	part, err := d.PutPart(ctx, key, uploadID, number, body, length)
	return part, time.Now(), err
}

// CompleteMultipart joins the parts into the version. The ETag is the hash of the parts' hashes, as
// in S3.
func (d *Disk) CompleteMultipart(ctx context.Context, key Key, uploadID string, parts []Part) (Meta, error) {
	dir, err := d.multipartDir(key, uploadID)
	if err != nil {
		return Meta{}, err
	}
	name, err := d.path(key)
	if err != nil {
		return Meta{}, err
	}
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(a, b Part) int { return a.Number - b.Number })
	sums := md5.New()
	for _, p := range parts {
		etag, err := d.partETag(path.Join(dir, "part-"+strconv.Itoa(p.Number)))
		if errors.Is(err, ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return Meta{}, fmt.Errorf("%w: part %d is missing", ErrPart, p.Number)
		}
		if err != nil {
			return Meta{}, err
		}
		if etag != strings.Trim(p.ETag, `"`) {
			return Meta{}, fmt.Errorf("%w: part %d has another ETag", ErrPart, p.Number)
		}
		raw, err := hex.DecodeString(etag)
		if err != nil {
			return Meta{}, err
		}
		sums.Write(raw)
	}
	var o multipartOptions
	data, err := d.root.ReadFile(path.Join(dir, "metadata.json"))
	if err != nil {
		return Meta{}, keyError(err, dir)
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return Meta{}, err
	}
	joined := &partsReader{disk: d, dir: dir, parts: parts}
	defer joined.Close()
	meta, err := d.write(name, d.hashed(ctx, joined), Options(o).withDefaults())
	if err != nil {
		return Meta{}, err
	}
	etag := hex.EncodeToString(sums.Sum(nil)) + "-" + strconv.Itoa(len(parts))
	if f, err := d.open(key); err == nil {
		setAttributes(f, Options{}, etag)
		f.Close()
	}
	meta.ETag = `"` + etag + `"`
	d.step("remove parts")
	// If this fails, SweepTemporary removes the parts later.
	_ = d.AbortMultipart(ctx, key, uploadID)
	return meta, nil
}

func (d *Disk) partETag(name string) (string, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, etag := attributes(f); etag != "" {
		return etag, nil
	}
	sum := md5.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// AbortMultipart removes the parts.
func (d *Disk) AbortMultipart(_ context.Context, _ Key, uploadID string) error {
	upload, err := uploadPath(uploadID)
	if err != nil {
		return err
	}
	return d.root.RemoveAll(upload)
}

// partsReader reads the parts in order, with one open file at a time.
type partsReader struct {
	disk  *Disk
	dir   string
	parts []Part
	open  *os.File
}

func (r *partsReader) Read(p []byte) (int, error) {
	for {
		if r.open == nil {
			if len(r.parts) == 0 {
				return 0, io.EOF
			}
			f, err := r.disk.root.Open(path.Join(r.dir, "part-"+strconv.Itoa(r.parts[0].Number)))
			if err != nil {
				return 0, err
			}
			r.open, r.parts = f, r.parts[1:]
		}
		n, err := r.open.Read(p)
		if err == io.EOF {
			r.open.Close()
			r.open = nil
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (r *partsReader) Close() error {
	if r.open != nil {
		return r.open.Close()
	}
	return nil
}
