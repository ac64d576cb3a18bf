package cli

import (
	"context"
	"fmt"

	"daawo/supabase/internal/cli/files"
)

func listFiles(ctx context.Context, inv *Invocation) error {
	recursive := storageFlags(inv)
	if err := inv.parseMixed(0, 1); err != nil {
		return err
	}
	var p files.Path
	if len(inv.args) == 1 {
		var ok bool
		if p, ok = files.ParsePath(inv.args[0]); !ok {
			return usagef("%q is no path in storage, such as ss:///bucket/name", inv.args[0])
		}
	}
	client, err := filesOf(ctx, inv)
	if err != nil {
		return err
	}
	buckets := []string{p.Bucket}
	if p.Bucket == "" {
		if buckets, err = client.Buckets(ctx); err != nil {
			return err
		}
	}
	for _, bucket := range buckets {
		in := files.Path{Bucket: bucket, Name: p.Name}
		switch {
		case *recursive:
			err = client.Walk(ctx, in, func(name string) error {
				_, err := fmt.Fprintln(inv.Stdout, in.String()+"/"+name)
				return err
			})
		case p.Bucket == "":
			_, err = fmt.Fprintln(inv.Stdout, bucket+"/")
		default:
			err = printFolder(ctx, inv, client, in)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func printFolder(ctx context.Context, inv *Invocation, client files.Client, p files.Path) error {
	entries, err := client.List(ctx, p)
	for _, e := range entries {
		if e.Folder {
			e.Name += "/"
		}
		fmt.Fprintln(inv.Stdout, e.Name)
	}
	return err
}
