package backup

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
)

// Store is where backups are kept. Names are slash-separated paths.
type Store interface {
	// Put stores what r yields, all of it or nothing.
	Put(ctx context.Context, name string, r io.Reader) error
	// Open returns fs.ErrNotExist for a name that is not there.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// List returns the names that begin with prefix, sorted.
	List(ctx context.Context, prefix string) ([]string, error)
	// Delete removes a name; one that is not there is no error.
	Delete(ctx context.Context, name string) error
	// String names the place for people, without secrets.
	String() string
}

// OpenStore names a folder, given by its path, or a bucket, given as
// s3://bucket/prefix (see openS3 for its parameters). Neither needs to be there
// yet, and a folder is never made: where a disk is not mounted, backups would go
// to the one that they are to survive.
func OpenStore(place string) (Store, error) {
	if u, err := url.Parse(place); err == nil && u.Scheme == "s3" {
		return openS3(u)
	}
	if place == "" {
		return nil, errors.New("backup: no place is given")
	}
	dir, err := filepath.Abs(strings.TrimPrefix(place, "file://"))
	if err != nil {
		return nil, err
	}
	return folder(dir), nil
}

// MakeStore is OpenStore that makes a folder.
func MakeStore(place string) (Store, error) {
	store, err := OpenStore(place)
	if f, ok := store.(folder); ok {
		if err := os.MkdirAll(string(f), 0o700); err != nil {
			return nil, fmt.Errorf("backup folder: %w", err)
		}
	}
	return store, err
}

// errNotThere is no fs.ErrNotExist: of a folder that is not there nobody knows what it holds.
var errNotThere = errors.New("is not there: see that its disk is mounted; `daawo backup` makes the folder and a backup in it")

// folder is a Store on a file system.
type folder string

func (f folder) String() string { return string(f) }

func (f folder) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

// there refuses a folder that is not there.
func (f folder) there() error {
	_, err := os.Stat(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %w", f, errNotThere)
	}
	return err
}

// unfinished begins the names of files that Put is still writing. List does not
// name them.
const unfinished = ".put-"

// sweep removes the unfinished files below dir that nothing was written to for
// longer than age, as a process leaves them that is killed.
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
				os.Remove(dir) // when it is empty now
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func (f folder) Put(ctx context.Context, name string, r io.Reader) error {
	if err := f.there(); err != nil {
		return err
	}
	target := f.path(name)
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, unfinished)
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = io.Copy(tmp, contextReader{ctx, r})
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), target); err != nil {
		return err
	}
	return syncDir(dir)
}

func (f folder) Open(_ context.Context, name string) (io.ReadCloser, error) {
	r, err := os.Open(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		if gone := f.there(); gone != nil {
			return nil, gone
		}
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (f folder) List(_ context.Context, prefix string) ([]string, error) {
	if err := f.there(); err != nil {
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
	os.Remove(filepath.Dir(f.path(name))) // when it is empty now
	return nil
}

// syncDir makes a rename in dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}
