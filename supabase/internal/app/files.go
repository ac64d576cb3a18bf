package app

import (
	"cmp"
	"io"
	"path/filepath"

	"daawo/supabase/internal/storage/backend"
)

// tenant names the folders of the files, as docker/compose.yaml does: the files of both forms can change places.
const tenant = "daawo"

// filesDir is the folder of the files, "" when they are not in a folder.
func (a *App) filesDir() string {
	if a.cfg.Files.Backend == "s3" {
		return ""
	}
	return cmp.Or(a.cfg.Files.Path, filepath.Join(a.data, "storage"))
}

// openFiles opens where storage keeps its files: a folder, which may be one that several servers share, or S3.
func (a *App) openFiles() (backend.Backend, io.Closer, error) {
	if dir := a.filesDir(); dir != "" {
		return openFolder(dir, false)
	}
	f := a.cfg.Files
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
