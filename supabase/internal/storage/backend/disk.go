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
	"sync"
	"syscall"

	"github.com/google/uuid"
)

// incoming is where versions are written before they are renamed to their place.
const incoming = ".incoming"

// Disk is the file backend. Everything goes through an os.Root, so no name and no symbolic link can lead outside of it.
type Disk struct {
	root    *os.Root
	prefix  string       // <internal bucket>/<tenant>
	step    func(string) // called before each step of a write, for tests that stop the process there
	buffers sync.Pool    // of *[copyBuffer]byte
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
	d := &Disk{root: root, prefix: prefix, step: c.Step, buffers: sync.Pool{New: func() any { return new([copyBuffer]byte) }}}
	if d.step == nil {
		d.step = func(string) {}
	}
	for _, dir := range []string{incoming, prefix} {
		grown, err := d.mkdir(dir)
		if err == nil {
			err = d.sync(grown...)
		}
		if err != nil {
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
	size, sum, err := d.copyHashed(f, &contextReader{ctx, body})
	if err != nil {
		sum()
		return Meta{}, err
	}
	setAttributes(f, o, "")
	d.step("make folders")
	grown, err := d.mkdir(path.Dir(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a parent was pruned meanwhile: place makes them again
		sum()
		return Meta{}, keyError(err, name)
	}
	d.step("sync file")
	// One commit of the file system's journal serves both.
	folders := make(chan error, 1)
	go func() { folders <- d.sync(grown...) }()
	err = f.Sync()
	etag := sum()
	if err = errors.Join(err, <-folders); err != nil {
		return Meta{}, err
	}
	setAttributes(f, Options{}, etag) // durable with the folder; without it, it is computed again
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
		err := d.root.Rename(tmp, name)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || attempt == 20 {
			return keyError(err, name)
		}
		grown, err := d.mkdir(dir)
		if err == nil {
			err = d.sync(grown...)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return keyError(err, name)
		}
	}
	return d.sync(dir)
}

// mkdir makes dir and its parents, and tells which folders have got a new one and are to be synced.
func (d *Disk) mkdir(dir string) (grown []string, err error) {
	parent := path.Dir(dir)
	err = d.root.Mkdir(dir, 0o750)
	if errors.Is(err, fs.ErrNotExist) && parent != "." {
		if grown, err = d.mkdir(parent); err != nil {
			return grown, err
		}
		err = d.root.Mkdir(dir, 0o750)
	}
	if errors.Is(err, fs.ErrExist) {
		return grown, nil // a file in its place fails what comes next
	}
	return append(grown, parent), err
}

// sync makes the entries of folders durable. One that has gone in the meantime has none.
func (d *Disk) sync(dirs ...string) error {
	for _, dir := range dirs {
		f, err := d.root.Open(dir)
		if missing(err) {
			continue
		}
		if err != nil {
			return err
		}
		err = f.Sync()
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
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
