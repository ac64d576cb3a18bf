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

	"daawo/supabase/internal/base/atomicfile"

	"github.com/google/uuid"
)

// incoming is the folder of versions that are being written, before they are renamed to their final
// name.
const incoming = ".incoming"

// Disk is the file backend. It accesses files only through an os.Root, so no name and no symbolic
// link can lead outside.
type Disk struct {
	root     *os.Root
	prefix   string       // <internal bucket>/<tenant>
	readable bool         // see DiskConfig
	step     func(string) // called before each step of a write; tests stop the process there
	buffers  sync.Pool    // of *[copyBuffer]byte
}

// DiskConfig configures a Disk.
type DiskConfig struct {
	Path   string       // root folder, created if it is missing
	Bucket string       // internal bucket, GLOBAL_S3_BUCKET of storage-api
	Tenant string       // TENANT_ID of storage-api
	Step   func(string) // if set, called before each step of a write

	// Readable gives new files the mode 0644 and new folders 0755, for an imgproxy that runs as
	// another user. Otherwise other users may not read them.
	Readable bool
}

// OpenDisk opens the root folder and creates it if necessary.
func OpenDisk(c DiskConfig) (*Disk, error) {
	prefix := path.Join(c.Bucket, c.Tenant)
	if !filepath.IsLocal(prefix) || prefix == "." {
		return nil, fmt.Errorf("storage: bucket %q and tenant %q do not form a folder path", c.Bucket, c.Tenant)
	}
	if err := atomicfile.MkdirAll(c.Path, 0o750); err != nil {
		return nil, fmt.Errorf("storage folder: %w", err)
	}
	root, err := os.OpenRoot(c.Path)
	if err != nil {
		return nil, fmt.Errorf("storage folder: %w", err)
	}
	d := &Disk{root: root, prefix: prefix, readable: c.Readable, step: c.Step,
		buffers: sync.Pool{New: func() any { return new([copyBuffer]byte) }}}
	if d.step == nil {
		d.step = func(string) {}
	}
	for _, dir := range []string{incoming, prefix, path.Join(marked, path.Dir(prefix))} {
		changed, err := d.mkdir(dir)
		if err == nil {
			err = d.sync(changed...)
		}
		if err != nil {
			root.Close()
			return nil, fmt.Errorf("storage folder: %w", err)
		}
	}
	return d, nil
}

// Close closes the root folder.
func (d *Disk) Close() error { return d.root.Close() }

func (d *Disk) path(k Key) (string, error) {
	rel, err := k.relative()
	if err != nil {
		return "", err
	}
	return path.Join(d.prefix, rel), nil
}

// Put writes a temporary file, syncs it and renames it.
func (d *Disk) Put(ctx context.Context, key Key, body io.Reader, o Options) (Meta, error) {
	name, err := d.path(key)
	if err != nil {
		return Meta{}, err
	}
	return d.write(name, d.hashed(ctx, body), o.withDefaults())
}

func (d *Disk) write(name string, source content, o Options) (meta Meta, err error) {
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
	if d.readable {
		if err := f.Chmod(0o644); err != nil { // the umask does not apply
			return Meta{}, err
		}
	}
	d.step("write bytes")
	size, sum, err := source(f)
	if err != nil {
		sum()
		return Meta{}, err
	}
	setAttributes(f, o, "")
	d.step("make folders")
	changed, err := d.mkdir(path.Dir(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a concurrent prune removed a parent: place creates it again
		sum()
		return Meta{}, keyError(err, name)
	}
	d.step("sync file")
	// Sync both at the same time, so that one commit of the file system's journal is enough.
	folders := make(chan error, 1)
	go func() { folders <- d.sync(changed...) }()
	err = f.Sync()
	etag := sum()
	if err = errors.Join(err, <-folders); err != nil {
		return Meta{}, err
	}
	setAttributes(f, Options{}, etag) // becomes durable with the folder; if it is lost, Head computes it again
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
	return Meta{Size: size, ETag: `"` + etag + `"`, ContentType: o.ContentType, CacheControl: o.CacheControl,
		Modified: info.ModTime()}, nil
}

// place renames tmp to name and syncs the folder. It creates the folder again if a concurrent prune
// has removed it.
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
		changed, err := d.mkdir(dir)
		if err == nil {
			err = d.sync(changed...)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return keyError(err, name)
		}
	}
	return d.sync(dir)
}

// mkdir creates dir and its parents. It returns the folders in which it created one; the caller
// must sync them.
func (d *Disk) mkdir(dir string) (changed []string, err error) {
	parent := path.Dir(dir)
	err = d.root.Mkdir(dir, 0o750)
	if errors.Is(err, fs.ErrNotExist) && parent != "." {
		if changed, err = d.mkdir(parent); err != nil {
			return changed, err
		}
		err = d.root.Mkdir(dir, 0o750)
	}
	if errors.Is(err, fs.ErrExist) {
		return changed, nil // if dir is a file, the next operation fails
	}
	if err == nil && d.readable {
		err = d.root.Chmod(dir, 0o755)
	}
	return append(changed, parent), err
}

// sync makes the entries of folders durable. It ignores folders that have been removed.
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

// Open opens a version for reading. A copy of the result to a socket can use sendfile.
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

// section is the first part of a file.
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

// open opens a regular file. It does not follow a link in the last segment of the path.
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

// Head reads the attributes of the file. It computes the checksum if another server has written the
// file without one.
func (d *Disk) Head(ctx context.Context, key Key) (Meta, error) {
	f, err := d.open(key)
	if err != nil {
		return Meta{}, err
	}
	defer f.Close()
	return describe(ctx, f)
}

// describe returns the metadata of an open file.
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
	return Meta{Size: info.Size(), ETag: `"` + etag + `"`, ContentType: o.ContentType, CacheControl: o.CacheControl,
		Modified: info.ModTime()}, nil
}

// Copy copies the bytes, inside the kernel if the checksum is known. With a hard link, the two
// versions would share their attributes.
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
	kept, etag := attributes(f)
	if o == nil {
		o = &kept
	}
	source := d.hashed(ctx, f)
	if isMD5(etag) { // a copy does not have a multipart upload's
		source = cloned(ctx, f, etag)
	}
	return d.write(target, source, o.withDefaults())
}

// Delete removes versions, their upload descriptions and the folders that become empty.
func (d *Disk) Delete(_ context.Context, keys ...Key) error {
	var errs []error
	for _, key := range keys {
		name, err := d.path(key)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, file := range []string{name, name + infoSuffix} {
			errs = append(errs, d.remove(file))
		}
		d.prune(path.Dir(name))
	}
	return errors.Join(errs...)
}

// prune removes dir and its parents while they are empty, but not the tenant's folder.
func (d *Disk) prune(dir string) {
	for strings.HasPrefix(dir, d.prefix+"/") {
		if err := d.root.Remove(dir); err != nil && !missing(err) {
			return
		}
		dir = path.Dir(dir)
	}
}

// URL returns imgproxy's URL of a local file.
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

// missing reports whether err says that a file does not exist, possibly because one of its folders
// is a file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// keyError maps an error of the file system to the errors of this package.
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

// contextReader is a reader that fails once its context is done.
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
