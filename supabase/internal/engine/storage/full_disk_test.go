package storage

import (
	"context"
	"io"
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"

	"daawo/supabase/internal/engine/storage/backend"
)

// fullDisk is a backend in which one kind of write fails because the disk is full.
type fullDisk struct {
	backend.Backend
	write atomic.Pointer[string] // the kind of write that fails
}

func (f *fullDisk) check(write string) error {
	if failing := f.write.Load(); failing != nil && *failing == write {
		return &fs.PathError{Op: "write", Path: write, Err: syscall.ENOSPC}
	}
	return nil
}

func (f *fullDisk) Begin(ctx context.Context, key backend.Key, o backend.Options, info []byte) error {
	if err := f.check("begin"); err != nil {
		return err
	}
	return f.Backend.Begin(ctx, key, o, info)
}

func (f *fullDisk) SetInfo(ctx context.Context, key backend.Key, info []byte) error {
	if err := f.check("describe"); err != nil {
		return err
	}
	return f.Backend.SetInfo(ctx, key, info)
}

// Append writes one byte before the disk is full.
func (f *fullDisk) Append(ctx context.Context, key backend.Key, offset int64, body io.Reader,
	last func(int64) bool) (int64, error) {
	if err := f.check("append"); err != nil {
		n, cut := f.Backend.Append(ctx, key, offset, io.LimitReader(body, 1), last)
		if cut != nil {
			err = cut
		}
		return n, err
	}
	return f.Backend.Append(ctx, key, offset, body, last)
}

func (f *fullDisk) Finish(ctx context.Context, key backend.Key) (backend.Meta, error) {
	if err := f.check("finish"); err != nil {
		return backend.Meta{}, err
	}
	return f.Backend.Finish(ctx, key)
}

func (f *fullDisk) Put(ctx context.Context, key backend.Key, body io.Reader, o backend.Options) (backend.Meta, error) {
	if err := f.check("put"); err != nil {
		return backend.Meta{}, err
	}
	return f.Backend.Put(ctx, key, body, o)
}

// TestFullDisk checks that every protocol replies with 507 and Retry-After if the disk becomes full
// at any step of an upload, and that the bytes of a resumable upload stay.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := &fullDisk{}
	s := newStack(t, func(o *Options) { disk.Backend, o.Backend = o.Backend, disk })
	s.bucket("box", false)
	key := s.demo.ServiceRole
	none := ""
	failing := func(write string, request func() reply) {
		t.Helper()
		disk.write.Store(&write)
		defer disk.write.Store(&none)
		if full := request().want(t, 507, "no storage space left"); full.Header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", write)
		}
	}
	failing("put", func() reply { return s.do(key, "POST", "/object/box/rest", "fresh") })
	s3 := s.s3Sender()
	failing("put", func() reply { return s3("PUT", "/box/s3", "fresh") })
	failing("begin", func() reply { return s.tusCreate(key, "box", "tus", 5, "") })

	metadata := tusMetadata("bucketName", "box", "objectName", "tus")
	path := s.tusPath(s.tus(key, "POST", "/upload/resumable", nil, "Upload-Defer-Length", "1", "Upload-Metadata",
		metadata))
	patch := func(body, at string) func() reply {
		return func() reply { return s.tus(key, "PATCH", path, body, "Upload-Offset", at, "Upload-Length", "5") }
	}
	failing("describe", patch("fr", "0"))
	failing("append", patch("fr", "0"))
	if head := s.tus(s.demo.ServiceRole, "HEAD", path, nil).want(t, 200, ""); head.Header.Get("Upload-Offset") != "1" {
		t.Errorf("offset is %q", head.Header.Get("Upload-Offset"))
	}
	failing("finish", patch("resh", "1"))
	s.tus(s.demo.ServiceRole, "HEAD", path, nil).want(t, 200, "")
	s.do(key, "GET", "/object/box/tus", nil).want(t, 200, "fresh")
	for _, name := range []string{"rest", "s3"} {
		s.do(key, "GET", "/object/box/"+name, nil).want(t, 400, "not_found")
	}
}
