// Package backendtest opens storage backends for tests: a folder on disk and an S3 server in
// memory.
package backendtest

import (
	"net/http/httptest"
	"testing"

	"daawo/supabase/internal/engine/storage/backend"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Disk opens a disk backend in a temporary folder.
func Disk(t testing.TB) *backend.Disk {
	t.Helper()
	d, err := backend.OpenDisk(backend.DiskConfig{Path: t.TempDir(), Bucket: "stub", Tenant: "stub"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// S3 opens an S3 backend on a server in memory. The server does not store Cache-Control, and it
// computes its own ETags.
func S3(t testing.TB) *backend.S3 { return S3Replicas(t, 1)[0] }

// S3Replicas opens n S3 backends that share one server.
func S3Replicas(t testing.TB, n int) []*backend.S3 {
	t.Helper()
	store := s3mem.New()
	if err := store.CreateBucket("internal"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(store).Server())
	t.Cleanup(server.Close)
	replicas := make([]*backend.S3, n)
	for i := range replicas {
		var err error
		replicas[i], err = backend.OpenS3(backend.S3Config{Endpoint: server.URL, Region: "us-east-1",
			Bucket: "internal", Tenant: "stub", AccessKey: "id", SecretKey: "secret", PathStyle: true})
		if err != nil {
			t.Fatal(err)
		}
	}
	return replicas
}

// Each runs the same test on both backends.
func Each(t *testing.T, test func(*testing.T, backend.Backend)) {
	t.Run("disk", func(t *testing.T) { t.Parallel(); test(t, Disk(t)) })
	t.Run("s3", func(t *testing.T) { t.Parallel(); test(t, S3(t)) })
}

// OnDisk reports whether b is a disk backend.
func OnDisk(b backend.Backend) bool {
	_, ok := b.(*backend.Disk)
	return ok
}
