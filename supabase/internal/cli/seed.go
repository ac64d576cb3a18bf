package cli

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/cli/files"
)

var seedCommand = Command{
	Name:  "seed",
	Short: "Create the buckets of config.toml and upload their files",
	Verbs: []Command{{Name: "buckets", Args: "[FLAGS]", Run: seedBuckets,
		Short: "Create the buckets of config.toml, or change their rules, and upload their files",
		Long: `
A start does the same for new buckets. This command also applies changed rules and changed files.`}},
}

func seedBuckets(ctx context.Context, inv *Invocation) error {
	storageFlags(inv)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	c, err := inv.config()
	if err != nil {
		return err
	}
	project, err := inv.project()
	if err != nil {
		return err
	}
	client, err := filesOf(ctx, inv)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Storage.Buckets)) {
		b := c.Storage.Buckets[name]
		created, err := client.PutBucket(ctx, name, bucketFields(name, b))
		if err != nil {
			return fmt.Errorf("bucket %s: %w", name, err)
		}
		fmt.Fprintf(inv.Stdout, "%s bucket %s\n", map[bool]string{true: "created", false: "updated"}[created], name)
		if err := uploadSeeds(ctx, inv, client, project.files, name, b.ObjectsPath); err != nil {
			return err
		}
	}
	if len(c.Storage.Buckets) == 0 {
		fmt.Fprintln(inv.Stdout, "config.toml has no buckets ([storage.buckets.NAME])")
	}
	return nil
}

// bucketFields returns a bucket of config.toml in the terms of the storage API.
func bucketFields(name string, b config.Bucket) map[string]any {
	fields := map[string]any{"id": name, "name": name, "public": b.Public, "file_size_limit": nil,
		"allowed_mime_types": nil}
	if b.FileSizeLimit > 0 {
		fields["file_size_limit"] = int64(b.FileSizeLimit)
	}
	if len(b.AllowedMimeTypes) > 0 {
		fields["allowed_mime_types"] = b.AllowedMimeTypes
	}
	return fields
}

// uploadSeeds uploads the files of a bucket's objects_path.
func uploadSeeds(ctx context.Context, inv *Invocation, client files.Client, project fs.FS, bucket, dir string) error {
	if dir == "" {
		return nil
	}
	dir = path.Clean(strings.TrimPrefix(dir, "./"))
	return fs.WalkDir(project, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := project.Open(name)
		if err != nil {
			return err
		}
		defer content.Close()
		to := files.Path{Bucket: bucket, Name: strings.TrimPrefix(name, dir+"/")}
		if err := client.Upload(ctx, to, content, "", "max-age=3600"); err != nil {
			return err
		}
		_, err = fmt.Fprintln(inv.Stdout, "uploaded", to)
		return err
	})
}
