package backend

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"
)

// SweepTemporary removes temporary files, multipart folders and empty folders that have not changed
// since before.
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
	return removed, d.sweepFolders(ctx, before)
}

// sweepFolders removes the empty folders that interrupted uploads have left. In a walk, a folder is
// empty if the next entry is not inside it.
func (d *Disk) sweepFolders(ctx context.Context, before time.Time) error {
	last := ""
	leave := func(next string) {
		if last != "" && !strings.HasPrefix(next, last+"/") {
			if info, err := d.root.Lstat(last); err == nil && info.ModTime().Before(before) {
				d.prune(last)
			}
		}
	}
	err := fs.WalkDir(d.root.FS(), d.prefix, func(name string, e fs.DirEntry, err error) error {
		if missing(err) {
			return nil
		}
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		leave(name)
		if last = ""; e.IsDir() {
			last = name
		}
		return nil
	})
	leave("")
	return err
}

// newest returns the latest modification time of name and everything below it.
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

// Walk calls fn for every version. It skips the upload description of an existing version.
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
			return nil // deleted since the folder was read
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
		return fn(Entry{Key: key, Modified: info.ModTime()})
	})
}
