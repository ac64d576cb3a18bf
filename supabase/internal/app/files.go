package app

import (
	"cmp"
	"io"
	"path/filepath"

	"daawo/supabase/internal/engine/storage/backend"
)

// tenant is a part of the paths of stored files. docker/compose.yaml has the same one, so that
// files can move between both.
const tenant = "daawo"

// filesDir returns the folder of the stored files, or "" if they are in S3.
func (a *App) filesDir() string {
	if a.Config.Files.Backend == "s3" {
		return ""
	}
	return cmp.Or(a.Config.Files.Path, filepath.Join(a.Data, "storage"))
}

// openFiles opens the backend of the stored files: S3 or a folder, which several servers may share.
func (a *App) openFiles() (backend.Backend, io.Closer, error) {
	if dir := a.filesDir(); dir != "" {
		return openFolder(dir, false)
	}
	f := a.Config.Files
	s3, err := backend.OpenS3(backend.S3Config{
		Endpoint: f.Endpoint, Region: f.Region, Bucket: f.Bucket, Tenant: tenant, PathStyle: f.PathStyle,
		AccessKey: f.AccessKey, SecretKey: f.SecretKey,
	})
	return s3, io.NopCloser(nil), err
}

func openFolder(dir string, readable bool) (backend.Backend, io.Closer, error) {
	disk, err := backend.OpenDisk(backend.DiskConfig{Path: dir, Bucket: tenant, Tenant: tenant, Readable: readable})
	return disk, disk, err
}
