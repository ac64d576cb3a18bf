package physical

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"daawo/supabase/internal/base/atomicfile"
	"daawo/supabase/internal/database/backup/codec"
)

// Store holds backups. Names are slash-separated paths.
type Store interface {
	// Put stores the content of r completely or not at all.
	Put(ctx context.Context, name string, r io.Reader) error
	// Open returns fs.ErrNotExist if the name does not exist.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// List returns the names that begin with prefix, sorted.
	List(ctx context.Context, prefix string) ([]string, error)
	// Delete removes a name. Deleting a missing name is not an error.
	Delete(ctx context.Context, name string) error
	// String returns the place for messages, without secrets.
	String() string
}

// OpenStore opens a folder, given by its path, or a bucket, given as
// s3://bucket/prefix (see openS3 for its parameters). It does not check that the
// place exists and never creates a folder. Otherwise, if the backup disk is not
// mounted, backups would go to the disk that they protect.
func OpenStore(place string) (Store, error) {
	if u, err := url.Parse(place); err == nil && u.Scheme == "s3" {
		return openS3(u)
	}
	if place == "" {
		return nil, errors.New("backup: no place given: name a folder or an s3:// bucket")
	}
	dir, err := filepath.Abs(strings.TrimPrefix(place, "file://"))
	if err != nil {
		return nil, err
	}
	return folder(dir), nil
}

// MakeStore is like OpenStore and creates a missing folder.
func MakeStore(place string) (Store, error) {
	store, err := OpenStore(place)
	if f, ok := store.(folder); ok {
		if err := atomicfile.MkdirAll(string(f), 0o700); err != nil {
			return nil, fmt.Errorf("backup folder: %w", err)
		}
	}
	return store, err
}

// errNotThere: the folder is missing (perhaps not mounted), so its contents are unknown. It does
// not match fs.ErrNotExist.
var errNotThere = errors.New("does not exist: mount its disk, or run `daawo backup` to create the folder and a backup")

// folder is a Store on a file system.
type folder string

func (f folder) String() string { return string(f) }

func (f folder) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

// mustExist returns errNotThere if the folder is missing.
func (f folder) mustExist() error {
	_, err := os.Stat(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %w", f, errNotThere)
	}
	return err
}

// unfinished is the prefix of the names of files that Put is writing. List skips
// them.
const unfinished = ".put-"

// sweep removes the unfinished files below dir that have not been written to for
// longer than age. Killed processes leave such files.
func (f folder) sweep(dir string, age time.Duration) error {
	return filepath.WalkDir(f.path(dir), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), unfinished) {
			return err
		}
		info, err := d.Info()
		if err == nil && (age == 0 || time.Since(info.ModTime()) > age) {
			err = os.Remove(path)
			if dir := filepath.Dir(path); dir != string(f) {
				os.Remove(dir) // only if empty
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func (f folder) Put(ctx context.Context, name string, r io.Reader) error {
	if err := f.mustExist(); err != nil {
		return err
	}
	target := f.path(name)
	dir := filepath.Dir(target)
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, unfinished)
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = io.Copy(tmp, codec.WithContext(ctx, r))
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return atomicfile.Rename(tmp.Name(), target)
}

func (f folder) Open(_ context.Context, name string) (io.ReadCloser, error) {
	r, err := os.Open(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		if missing := f.mustExist(); missing != nil {
			return nil, missing
		}
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (f folder) List(_ context.Context, prefix string) ([]string, error) {
	if err := f.mustExist(); err != nil {
		return nil, err
	}
	var names []string
	root := f.path(prefix[:strings.LastIndexByte(prefix, '/')+1])
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(string(f), path)
		name := filepath.ToSlash(rel)
		if strings.HasPrefix(name, prefix) && !strings.HasPrefix(d.Name(), unfinished) {
			names = append(names, name)
		}
		return err
	})
	slices.Sort(names)
	return names, err
}

func (f folder) Delete(_ context.Context, name string) error {
	if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	os.Remove(filepath.Dir(f.path(name))) // only if empty
	return nil
}
