package backend

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// incoming is where versions are written before they are renamed to their place.
const incoming = ".incoming"

// Disk is the file backend. Everything goes through an os.Root, so no name and no symbolic link can lead outside of it.
type Disk struct {
	root   *os.Root
	prefix string       // <internal bucket>/<tenant>
	step   func(string) // called before each step of a write, for tests that stop the process there
}

// DiskConfig says where a Disk keeps its files.
type DiskConfig struct {
	Path   string       // root folder, made when it is missing
	Bucket string       // internal bucket, GLOBAL_S3_BUCKET of storage-api
	Tenant string       // tenant, TENANT_ID of storage-api
	Step   func(string) // nil, or called before each step of a write
}

// OpenDisk makes the folder when needed and opens it.
func OpenDisk(c DiskConfig) (*Disk, error) {
	prefix := path.Join(c.Bucket, c.Tenant)
	if !filepath.IsLocal(prefix) || prefix == "." {
		return nil, fmt.Errorf("storage: bucket %q and tenant %q make no folder", c.Bucket, c.Tenant)
	}
	if err := os.MkdirAll(c.Path, 0o750); err != nil {
		return nil, fmt.Errorf("storage folder: %w", err)
	}
	root, err := os.OpenRoot(c.Path)
	if err != nil {
		return nil, fmt.Errorf("storage folder: %w", err)
	}
	d := &Disk{root: root, prefix: prefix, step: c.Step}
	if d.step == nil {
		d.step = func(string) {}
	}
	for _, dir := range []string{incoming, prefix} {
		if err := d.mkdir(dir); err != nil {
			root.Close()
			return nil, fmt.Errorf("storage folder: %w", err)
		}
	}
	return d, nil
}

// Close releases the root folder.
func (d *Disk) Close() error { return d.root.Close() }

func (d *Disk) path(k Key) (string, error) {
	rel, err := k.relative()
	if err != nil {
		return "", err
	}
	return path.Join(d.prefix, rel), nil
}

// Put writes to a temporary file, makes it durable, and only then gives it its name.
func (d *Disk) Put(ctx context.Context, key Key, body io.Reader, o Options) (Meta, error) {
	name, err := d.path(key)
	if err != nil {
		return Meta{}, err
	}
	return d.write(ctx, name, body, o.withDefaults())
}

func (d *Disk) write(ctx context.Context, name string, body io.Reader, o Options) (meta Meta, err error) {
	d.step("create temporary file")
	tmp := path.Join(incoming, uuid.NewString())
	f, err := d.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return Meta{}, err
	}
	defer func() {
		f.Close()
		if err != nil {
			d.root.Remove(tmp)
		}
	}()
	d.step("write bytes")
	sum := md5.New()
	size, err := io.Copy(io.MultiWriter(f, sum), &contextReader{ctx, body})
	if err != nil {
		return Meta{}, err
	}
	etag := hex.EncodeToString(sum.Sum(nil))
	setAttributes(f, o, etag)
	d.step("sync file")
	if err := f.Sync(); err != nil {
		return Meta{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return Meta{}, err
	}
	if err := f.Close(); err != nil {
		return Meta{}, err
	}
	d.step("rename")
	if err := d.place(tmp, name); err != nil {
		return Meta{}, err
	}
	d.step("stored")
	return Meta{Size: size, ETag: `"` + etag + `"`, ContentType: o.ContentType, CacheControl: o.CacheControl, Modified: info.ModTime()}, nil
}

// place renames tmp to name and syncs the folder. A removal of empty folders may run at the same time, so a folder that
// has just gone is made again.
func (d *Disk) place(tmp, name string) error {
	dir := path.Dir(name)
	for attempt := 0; ; attempt++ {
		err := d.mkdir(dir)
		if err == nil {
			err = d.root.Rename(tmp, name)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || attempt == 20 {
			return keyError(err, name)
		}
	}
	return d.sync(dir)
}

// mkdir makes dir and its parents, and syncs each parent that it added a folder to.
func (d *Disk) mkdir(dir string) error {
	if info, err := d.root.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if parent := path.Dir(dir); parent != "." {
		if err := d.mkdir(parent); err != nil {
			return err
		}
	}
	if err := d.root.Mkdir(dir, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.sync(path.Dir(dir))
}

func (d *Disk) sync(dir string) error {
	f, err := d.root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Open opens a version for reading. The result is the file itself where all of it is asked for, so that a copy to a
// socket need not pass through this process.
func (d *Disk) Open(_ context.Context, key Key, offset, length int64) (io.ReadCloser, error) {
	f, err := d.open(key)
	if err != nil {
		return nil, err
	}
	if offset > 0 {
		if _, err := f.Seek(offset, io.SeekStart); err != nil {
			f.Close()
			return nil, err
		}
	}
	if length < 0 {
		return f, nil
	}
	return &section{Reader: io.LimitReader(f, length), Closer: f}, nil
}

type section struct {
	io.Reader
	io.Closer
}

// WriteTo hands the limited file to the writer, whose ReadFrom may use sendfile.
func (s *section) WriteTo(w io.Writer) (int64, error) {
	if rf, ok := w.(io.ReaderFrom); ok {
		return rf.ReadFrom(s.Reader)
	}
	return io.Copy(w, s.Reader)
}

// open opens a regular file without following a link in its last step.
func (d *Disk) open(key Key) (*os.File, error) {
	name, err := d.path(key)
	if err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, keyError(err, name)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	return f, nil
}

// Head reads the attributes of the file. Files that another server wrote may have no stored checksum: it is computed.
func (d *Disk) Head(ctx context.Context, key Key) (Meta, error) {
	f, err := d.open(key)
	if err != nil {
		return Meta{}, err
	}
	defer f.Close()
	return describe(ctx, f)
}

func describe(ctx context.Context, f *os.File) (Meta, error) {
	info, err := f.Stat()
	if err != nil {
		return Meta{}, err
	}
	o, etag := attributes(f)
	if etag == "" {
		sum := md5.New()
		if _, err := io.Copy(sum, &contextReader{ctx, f}); err != nil {
			return Meta{}, err
		}
		etag = hex.EncodeToString(sum.Sum(nil))
	}
	o = o.withDefaults()
	return Meta{Size: info.Size(), ETag: `"` + etag + `"`, ContentType: o.ContentType, CacheControl: o.CacheControl, Modified: info.ModTime()}, nil
}

// Copy writes the bytes again: a link would let two versions share one set of attributes.
func (d *Disk) Copy(ctx context.Context, from, to Key, o *Options) (Meta, error) {
	f, err := d.open(from)
	if err != nil {
		return Meta{}, err
	}
	defer f.Close()
	target, err := d.path(to)
	if err != nil {
		return Meta{}, err
	}
	if o == nil {
		kept, _ := attributes(f)
		o = &kept
	}
	return d.write(ctx, target, f, o.withDefaults())
}

// Delete removes versions, their upload descriptions and the folders that became empty.
func (d *Disk) Delete(_ context.Context, keys ...Key) error {
	var errs []error
	for _, key := range keys {
		name, err := d.path(key)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, file := range []string{name, name + infoSuffix} {
			if err := d.root.Remove(file); err != nil && !missing(err) {
				errs = append(errs, err)
			}
		}
		d.prune(path.Dir(name))
	}
	return errors.Join(errs...)
}

// prune removes dir and its parents as long as they are empty, up to the tenant's own folder.
func (d *Disk) prune(dir string) {
	for strings.HasPrefix(dir, d.prefix+"/") {
		if err := d.root.Remove(dir); err != nil && !missing(err) {
			return
		}
		dir = path.Dir(dir)
	}
}

// URL is imgproxy's form of a local path.
func (d *Disk) URL(_ context.Context, key Key) (string, error) {
	name, err := d.path(key)
	if err != nil {
		return "", err
	}
	abs, err := filepath.Abs(filepath.Join(d.root.Name(), filepath.FromSlash(name)))
	if err != nil {
		return "", err
	}
	return "local:///" + abs, nil
}

// missing says whether a file is not there, also because one of its folders is a file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// keyError turns what the file system says about a name into the errors of this package.
func keyError(err error, name string) error {
	switch {
	case missing(err):
		return fmt.Errorf("%w: %s", ErrNotFound, name)
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ELOOP),
		errors.Is(err, syscall.EINVAL), strings.Contains(err.Error(), "path escapes from parent"):
		return fmt.Errorf("%w: %s", ErrInvalidKey, name)
	}
	return err
}

// contextReader stops reading when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// SweepTemporary removes temporary files, and multipart folders, that nothing has touched since before.
func (d *Disk) SweepTemporary(ctx context.Context, before time.Time) (int, error) {
	removed := 0
	for _, dir := range []string{incoming, "multiparts"} {
		entries, err := fs.ReadDir(d.root.FS(), dir)
		if missing(err) {
			continue
		}
		if err != nil {
			return removed, err
		}
		for _, e := range entries {
			if ctx.Err() != nil {
				return removed, ctx.Err()
			}
			newest, err := d.newest(path.Join(dir, e.Name()))
			if err != nil || !newest.Before(before) {
				continue
			}
			if err := d.root.RemoveAll(path.Join(dir, e.Name())); err != nil {
				return removed, err
			}
			removed++
		}
	}
	return removed, nil
}

// newest is the latest change of anything below name.
func (d *Disk) newest(name string) (time.Time, error) {
	var latest time.Time
	err := fs.WalkDir(d.root.FS(), name, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.ModTime().After(latest) {
			latest = info.ModTime()
		}
		return err
	})
	return latest, err
}

// Walk finds every version. Descriptions of uploads are passed over: they go with their version.
func (d *Disk) Walk(ctx context.Context, fn func(Entry) error) error {
	return fs.WalkDir(d.root.FS(), d.prefix, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			if missing(err) {
				return nil
			}
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if e.IsDir() || !e.Type().IsRegular() {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil // deleted in the meantime
		}
		rest := strings.Split(strings.TrimPrefix(name, d.prefix+"/"), "/")
		if len(rest) < 3 {
			return nil
		}
		version := strings.TrimSuffix(rest[len(rest)-1], infoSuffix)
		if version != rest[len(rest)-1] {
			if _, err := d.root.Lstat(strings.TrimSuffix(name, infoSuffix)); err == nil {
				return nil
			}
		}
		key := Key{Bucket: rest[0], Name: strings.Join(rest[1:len(rest)-1], "/"), Version: version}
		return fn(Entry{Key: key, Modified: info.ModTime(), Size: info.Size()})
	})
}
