package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"filippo.io/age"

	"daawo/supabase/internal/database/backup/logical"
	"daawo/supabase/internal/engine/storage/backend"
)

// Export writes the content of the installation to the writer that create returns. files is the
// folder of the stored files, or "" for the configured one.
func (a *App) Export(ctx context.Context, files string, create func() (io.WriteCloser, error),
	progress Progress) (e logical.Exported, err error) {
	if err := a.backups.installed(); err != nil {
		return e, err
	}
	recipients, err := a.backups.recipients()
	if err != nil {
		return e, err
	}
	err = a.backups.withDatabase(ctx, func(url string) error {
		return a.backups.withFiles(files, func(at storedFiles) error {
			e, err = logical.Export(ctx,
				logical.ExportOptions{URL: url, Files: at, Recipients: recipients, Progress: progress}, create)
			return err
		})
	})
	return e, err
}

// Import replaces the content of the installation by the content of an export. files is as for
// Export.
func (a *App) Import(ctx context.Context, files string, o logical.ImportOptions, r io.Reader) (e logical.Exported,
	err error) {
	err = a.backups.withDatabase(ctx, func(url string) error {
		return a.backups.withFiles(files, func(at storedFiles) error {
			if err := checkMark(ctx, at.Backend, url); err != nil {
				return fmt.Errorf("import: %w", err) // it would delete and replace files
			}
			o.URL, o.Files = url, at
			e, err = logical.Import(ctx, o, r)
			return err
		})
	})
	return e, err
}

// withFiles opens the stored files in dir, or the configured ones if dir is "", and calls work. New
// files are readable by other users if another program, imgproxy, reads them.
func (a backups) withFiles(dir string, work func(storedFiles) error) (err error) {
	open := func() (backend.Backend, io.Closer, error) { return openStored(a.Options) }
	if dir = cmp.Or(dir, filesDir(a.Options)); dir != "" {
		open = func() (backend.Backend, io.Closer, error) { return openFolder(dir, a.Config.ImgproxyURL != "") }
	}
	files, closer, err := open()
	if err != nil {
		return err
	}
	return errors.Join(work(storedFiles{files}), closer.Close())
}

// storedFiles implements logical.Files on the backend of the stored files.
type storedFiles struct{ backend.Backend }

func key(o logical.Object) backend.Key {
	return backend.Key{Bucket: o.Bucket, Name: o.Name, Version: o.Version}
}

func (f storedFiles) Open(ctx context.Context, o logical.Object) (io.ReadCloser, int64, error) {
	meta, err := f.Backend.Head(ctx, key(o))
	if err == nil {
		var r io.ReadCloser
		if r, err = f.Backend.Open(ctx, key(o), 0, -1); err == nil {
			return r, meta.Size, nil
		}
	}
	if errors.Is(err, backend.ErrNotFound) {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return nil, 0, err
}

func (f storedFiles) Put(ctx context.Context, o logical.Object, r io.Reader) error {
	_, err := f.Backend.Put(ctx, key(o), r, backend.Options{ContentType: o.ContentType, CacheControl: o.CacheControl})
	return err
}

func (f storedFiles) Delete(ctx context.Context, all ...logical.Object) error {
	keys := make([]backend.Key, len(all))
	for i, o := range all {
		keys[i] = key(o)
	}
	return f.Backend.Delete(ctx, keys...)
}

// recipients returns the age public keys that backups and exports are encrypted for.
func (a backups) recipients() (all []age.Recipient, err error) {
	for _, text := range a.Config.Backup.Recipients {
		r, err := age.ParseX25519Recipient(text)
		if err != nil {
			return nil, fmt.Errorf("BACKUP_RECIPIENTS: %q is not an age public key; it must look like age1…", text)
		}
		all = append(all, r)
	}
	return all, nil
}
