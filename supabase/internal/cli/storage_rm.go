package cli

import (
	"context"
	"errors"
	"fmt"
	"path"

	"daawo/supabase/internal/cli/files"
)

func removeFiles(ctx context.Context, inv *Invocation) error {
	recursive := storageFlags(inv)
	if err := inv.parseMixed(1, 1<<10); err != nil {
		return err
	}
	client, err := filesOf(ctx, inv)
	if err != nil {
		return err
	}
	names := map[string][]string{} // by bucket
	for _, text := range inv.args {
		p, err := storagePath(text)
		if err != nil {
			return err
		}
		if !*recursive {
			if p.Name == "" || p.Folder {
				return usagef("%s is a folder; -r removes the files in it", p)
			}
			names[p.Bucket] = append(names[p.Bucket], p.Name)
			continue
		}
		err = client.Walk(ctx, p, func(name string) error {
			names[p.Bucket] = append(names[p.Bucket], path.Join(p.Name, name))
			return nil
		})
		if err != nil {
			return err
		}
	}
	count := 0
	for bucket := range names {
		removed, err := client.Remove(ctx, bucket, names[bucket])
		for _, name := range removed {
			count++
			fmt.Fprintln(inv.Stdout, "removed", files.Path{Bucket: bucket, Name: name})
		}
		if err != nil {
			return err
		}
	}
	if count == 0 {
		return errors.New("no such file; `daawo storage ls -r` lists them")
	}
	return nil
}
