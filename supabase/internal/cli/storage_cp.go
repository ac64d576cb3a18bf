package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"daawo/supabase/internal/cli/files"
)

// fileCopy is one run of `storage cp`.
type fileCopy struct {
	inv          *Invocation
	client       files.Client
	contentType  string
	cacheControl string
}

func copyFiles(ctx context.Context, inv *Invocation) error {
	c := fileCopy{inv: inv}
	recursive := storageFlags(inv)
	inv.flags.StringVar(&c.contentType, "content-type", "", "content `type` (default: by the name's ending)")
	inv.flags.StringVar(&c.cacheControl, "cache-control", "max-age=3600", "`value` of the header Cache-Control")
	if err := inv.parseMixed(2, 2); err != nil {
		return err
	}
	from, fromStorage := files.ParsePath(inv.args[0])
	to, toStorage := files.ParsePath(inv.args[1])
	var err error
	if c.client, err = filesOf(ctx, inv); err != nil {
		return err
	}
	switch {
	case fromStorage == toStorage:
		return usagef("one of the paths must be in storage (ss:///…) and the other on this machine; `daawo storage mv` renames")
	case fromStorage && from.Bucket == "" || toStorage && to.Bucket == "":
		return usagef("the path in storage needs a bucket, such as ss:///bucket/name")
	case fromStorage && *recursive:
		return c.client.Walk(ctx, from, func(name string) error {
			below := files.Path{Bucket: from.Bucket, Name: path.Join(from.Name, name)}
			return c.download(ctx, below, inv.args[1], name)
		})
	case fromStorage:
		return c.downloadOne(ctx, from, inv.args[1])
	case *recursive:
		return c.uploadFolder(ctx, inv.args[0], to)
	}
	if to.Folder || to.Name == "" {
		to.Name = path.Join(to.Name, filepath.Base(inv.args[0]))
	}
	return c.upload(ctx, inv.args[0], to)
}

func (c fileCopy) uploadFolder(ctx context.Context, dir string, to files.Path) error {
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		below, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		return c.upload(ctx, name, files.Path{Bucket: to.Bucket, Name: path.Join(to.Name, filepath.ToSlash(below))})
	})
}

func (c fileCopy) upload(ctx context.Context, name string, to files.Path) error {
	content, err := os.Open(name)
	if err != nil {
		return err
	}
	defer content.Close()
	if err := c.client.Upload(ctx, to, content, c.contentType, c.cacheControl); err != nil {
		return err
	}
	fmt.Fprintln(c.inv.Stdout, "uploaded", to)
	return nil
}

// downloadOne writes an object to a file, or into a folder that exists.
func (c fileCopy) downloadOne(ctx context.Context, from files.Path, to string) error {
	name := filepath.Base(to)
	dir := filepath.Dir(to)
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		dir, name = to, path.Base(from.Name)
	}
	return c.download(ctx, from, dir, name)
}

// download writes an object to the file name below dir. The name of an object cannot lead out of
// dir.
func (c fileCopy) download(ctx context.Context, from files.Path, dir, name string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	name = filepath.FromSlash(name)
	if parent := filepath.Dir(name); strings.Trim(parent, ".") != "" {
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return err
		}
	}
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err == nil {
			fmt.Fprintln(c.inv.Stdout, "downloaded", filepath.Join(dir, name))
		}
	}()
	return c.client.Download(ctx, from, file)
}
