package storage

import (
	"context"
	"io"
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"

	"daawo/supabase/internal/storage/backend"
)

// full is a backend whose disk has no room for the writes that are named.
type full struct {
	backend.Backend
	write atomic.Pointer[string]
}

func (f *full) refuses(write string) error {
	if now := f.write.Load(); now != nil && *now == write {
		return &fs.PathError{Op: "write", Path: write, Err: syscall.ENOSPC}
	}
	return nil
}

func (f *full) Begin(ctx context.Context, key backend.Key, o backend.Options, info []byte) error {
	if err := f.refuses("begin"); err != nil {
		return err
	}
	return f.Backend.Begin(ctx, key, o, info)
}

func (f *full) SetInfo(ctx context.Context, key backend.Key, info []byte) error {
	if err := f.refuses("describe"); err != nil {
		return err
	}
	return f.Backend.SetInfo(ctx, key, info)
}

// Append finds room for one byte.
func (f *full) Append(ctx context.Context, key backend.Key, offset int64, body io.Reader, last func(int64) bool) (int64, error) {
	if err := f.refuses("append"); err != nil {
		n, cut := f.Backend.Append(ctx, key, offset, io.LimitReader(body, 1), last)
		if cut != nil {
			err = cut
		}
		return n, err
	}
	return f.Backend.Append(ctx, key, offset, body, last)
}

func (f *full) Finish(ctx context.Context, key backend.Key) (backend.Meta, error) {
	if err := f.refuses("finish"); err != nil {
		return backend.Meta{}, err
	}
	return f.Backend.Finish(ctx, key)
}

func (f *full) Put(ctx context.Context, key backend.Key, body io.Reader, o backend.Options) (backend.Meta, error) {
	if err := f.refuses("put"); err != nil {
		return backend.Meta{}, err
	}
	return f.Backend.Put(ctx, key, body, o)
}

// TestFullDisk: whatever protocol an upload speaks, and wherever the disk fills up in it, the client learns that there is
// no room and when to come again; what a resumable upload has sent stays.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := &full{}
	s := newStack(t, func(o *Options) { disk.Backend, o.Backend = o.Backend, disk })
	s.bucket("box", false)
	key := s.demo.ServiceRole
	room := ""
	without := func(write string, r func() reply) {
		t.Helper()
		disk.write.Store(&write)
		defer disk.write.Store(&room)
		if full := r().want(t, 507, "no storage space left"); full.Header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", write)
		}
	}
	without("put", func() reply { return s.do(key, "POST", "/object/box/rest", "fresh") })
	s3 := s.s3Sender()
	without("put", func() reply { return s3("PUT", "/box/s3", "fresh") })
	without("begin", func() reply { return s.tusCreate(key, "box", "tus", 5, "") })

	metadata := tusMetadata("bucketName", "box", "objectName", "tus")
	path := s.tusPath(s.tus(key, "POST", "/upload/resumable", nil, "Upload-Defer-Length", "1", "Upload-Metadata", metadata))
	patch := func(body, at string) func() reply {
		return func() reply { return s.tus(key, "PATCH", path, body, "Upload-Offset", at, "Upload-Length", "5") }
	}
	without("describe", patch("fr", "0"))
	without("append", patch("fr", "0"))
	if head := s.tus("", "HEAD", path, nil).want(t, 200, ""); head.Header.Get("Upload-Offset") != "1" {
		t.Errorf("the offset is %q", head.Header.Get("Upload-Offset"))
	}
	without("finish", patch("resh", "1"))
	s.tus("", "HEAD", path, nil).want(t, 200, "")
	s.do(key, "GET", "/object/box/tus", nil).want(t, 200, "fresh")
	for _, name := range []string{"rest", "s3"} {
		s.do(key, "GET", "/object/box/"+name, nil).want(t, 400, "not_found")
	}
}
