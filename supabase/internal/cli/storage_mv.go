package cli

import (
	"context"
	"fmt"
	"path"

	"daawo/supabase/internal/cli/files"
)

func moveFiles(ctx context.Context, inv *Invocation) error {
	recursive := storageFlags(inv)
	if err := inv.parseMixed(2, 2); err != nil {
		return err
	}
	from, err := storagePath(inv.args[0])
	if err != nil {
		return err
	}
	to, err := storagePath(inv.args[1])
	if err != nil {
		return err
	}
	if from.Bucket != to.Bucket {
		return usagef("a file can only move within its bucket; copy it with `daawo storage cp`")
	}
	client, err := filesOf(ctx, inv)
	if err != nil {
		return err
	}
	var names []string // relative to from
	if *recursive {
		err = client.Walk(ctx, from, func(name string) error { names = append(names, name); return nil })
	} else {
		names = []string{""}
		if to.Folder || to.Name == "" {
			to.Name = path.Join(to.Name, path.Base(from.Name))
		}
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		target := files.Path{Bucket: to.Bucket, Name: path.Join(to.Name, name)}
		if err := client.Move(ctx, files.Path{Bucket: from.Bucket, Name: path.Join(from.Name, name)},
			target); err != nil {
			return err
		}
		fmt.Fprintln(inv.Stdout, "moved to", target)
	}
	return nil
}
