package cli

import (
	"context"

	"daawo/supabase/internal/cli/files"
)

var storageCommand = Command{
	Name:  "storage",
	Short: "List, copy, move and remove files in buckets of the running server",
	Long: `
A path in storage is ss:///BUCKET/FOLDER/NAME; other paths are files of this machine.

  daawo storage ls ss:///images
  daawo storage cp photo.png ss:///images/photo.png
  daawo storage cp -r ss:///images backup`,
	Verbs: []Command{
		{Name: "ls", Args: "[PATH] [FLAGS]", Short: "List buckets, or the files of a folder", Run: listFiles},
		{Name: "cp", Args: "FROM TO [FLAGS]", Short: "Upload or download files; existing files are replaced",
			Run: copyFiles},
		{Name: "mv", Args: "FROM TO [FLAGS]", Short: "Rename files within their bucket", Run: moveFiles},
		{Name: "rm", Args: "PATH… [FLAGS]", Short: "Remove files", Run: removeFiles},
	},
}

// storageFlags declares the flags that the commands share.
func storageFlags(inv *Invocation) (recursive *bool) {
	inv.dataFlag()
	inv.ignore([]string{"local"}, "jobs")
	inv.flags.String("j", "", "")
	inv.flags.Var(remoteFlag{func(string) {}}, "remote", "")
	inv.flags.BoolFunc("linked", "", func(string) error { return usagef("--linked: there is no linked project") })
	recursive = inv.flags.Bool("recursive", false, "also the files in folders below")
	inv.flags.BoolVar(recursive, "r", false, "the same as --recursive")
	return recursive
}

// filesOf returns a client for the files of the selected installation.
func filesOf(ctx context.Context, inv *Invocation) (files.Client, error) {
	at, err := inv.Installation(ctx)
	return files.Client{URL: at.API + "/storage/v1", Key: at.Key}, err
}

// storagePath returns a path that must be in a bucket.
func storagePath(text string) (files.Path, error) {
	p, ok := files.ParsePath(text)
	if !ok || p.Bucket == "" {
		return p, usagef("%q is no path in storage, such as ss:///bucket/name", text)
	}
	return p, nil
}
