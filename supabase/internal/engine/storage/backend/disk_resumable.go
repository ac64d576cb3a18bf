package backend

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/google/uuid"
)

// infoSuffix is the suffix of the file with the description of a resumable upload, as in
// storage-api's file store.
const infoSuffix = ".json"

// Begin creates the empty file and its description.
func (d *Disk) Begin(_ context.Context, key Key, o Options, info []byte) error {
	name, err := d.path(key)
	if err != nil {
		return err
	}
	d.step("begin upload")
	tmp := path.Join(incoming, uuid.NewString())
	f, err := d.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	setAttributes(f, o.withDefaults(), "")
	if err := f.Close(); err != nil {
		return err
	}
	if err := d.place(tmp, name); err != nil {
		d.root.Remove(tmp)
		return err
	}
	if err := d.SetInfo(context.Background(), key, info); err != nil {
		d.root.Remove(name)
		return err
	}
	return nil
}

// Info reads the description and the size of the file.
func (d *Disk) Info(_ context.Context, key Key) ([]byte, int64, error) {
	name, err := d.path(key)
	if err != nil {
		return nil, 0, err
	}
	info, err := d.root.ReadFile(name + infoSuffix)
	if err != nil {
		return nil, 0, keyError(err, name)
	}
	stat, err := d.root.Lstat(name)
	if err != nil {
		return nil, 0, keyError(err, name)
	}
	if !stat.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	return info, stat.Size(), nil
}

// SetInfo replaces the description atomically.
func (d *Disk) SetInfo(ctx context.Context, key Key, info []byte) error {
	name, err := d.path(key)
	if err != nil {
		return err
	}
	d.step("describe upload")
	tmp := path.Join(incoming, uuid.NewString())
	f, err := d.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	_, err = f.Write(info)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		d.step("place description")
		err = d.place(tmp, name+infoSuffix)
	}
	if err != nil {
		d.root.Remove(tmp)
	}
	return err
}

// Append writes at the end of the file. If reading body fails, the bytes before the failure stay.
func (d *Disk) Append(_ context.Context, key Key, offset int64, body io.Reader, _ func(int64) bool) (int64, error) {
	name, err := d.path(key)
	if err != nil {
		return 0, err
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return 0, keyError(err, name)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if stat.Size() != offset {
		return 0, fmt.Errorf("upload has %d bytes, not %d", stat.Size(), offset)
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	d.step("append bytes")
	n, copyErr := io.Copy(f, body)
	d.step("sync upload")
	if err := f.Sync(); err != nil {
		return 0, err
	}
	return n, copyErr
}

// Finish returns the metadata of the complete file, which already has its final name.
func (d *Disk) Finish(ctx context.Context, key Key) (Meta, error) {
	f, err := d.open(key)
	if err != nil {
		return Meta{}, err
	}
	defer f.Close()
	d.step("finish upload")
	meta, err := describe(ctx, f)
	if err != nil {
		return Meta{}, err
	}
	setAttributes(f, Options{}, meta.ETag[1:len(meta.ETag)-1])
	return meta, f.Sync()
}

// Discard removes the file and its description.
func (d *Disk) Discard(ctx context.Context, key Key) error { return d.Delete(ctx, key) }
