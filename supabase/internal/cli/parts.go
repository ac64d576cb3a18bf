package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/parts"
)

// addable is a program of another publisher that a command adds to the project.
type addable struct {
	title string // in messages, such as Supabase Studio
	// in the version that add takes if parts.lock names none; the command has its name
	part parts.Part
	// where add gets the archive without --from
	source func(c *config.Config, progress func(done, total int64)) parts.Source
}

// released is the source of archives that Supabase publishes.
func released(c *config.Config, progress func(done, total int64)) parts.Source {
	return parts.Release(c.PartsURL, progress)
}

// verbs returns the verbs with which a command adds and removes the program.
func (a addable) verbs() []Command {
	return []Command{
		{Name: "add", Args: "[--from FILE] [--version VERSION]",
			Short: "Download " + a.title + ", and record its digest in parts.lock", Run: a.add},
		{Name: "remove", Short: "Delete " + a.title + " from this machine; parts.lock keeps its digest", Run: a.remove},
		{Name: "status", Short: "Print the version, digest and folder of " + a.title, Run: a.status},
	}
}

// addedParts returns the added programs of the selected project. A project inside the program has
// its lock file in the data folder.
func addedParts(inv *Invocation) (*parts.Store, error) {
	_, data, err := inv.installation()
	if err != nil {
		return nil, err
	}
	project, err := inv.project()
	if err != nil {
		return nil, err
	}
	dir := cmp.Or(project.dir, data)
	return &parts.Store{
		Dir: filepath.Join(server.DefaultRuntime(), "parts"), Lock: filepath.Join(dir, "parts.lock"),
	}, nil
}

// locked returns the program in the version of the project, and the added programs.
func (a addable) locked(inv *Invocation) (*parts.Store, parts.Part, error) {
	store, err := addedParts(inv)
	if err != nil {
		return nil, a.part, err
	}
	p, err := store.Locked(a.part)
	return store, p, err
}

func (a addable) add(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	file := inv.flags.String("from", "", "`file` of the archive; no network is needed")
	version := inv.flags.String("version", "", "`version` of the archive (default: as in parts.lock, or "+
		a.part.Version+")")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	c, err := inv.config()
	if err != nil {
		return err
	}
	store, p, err := a.locked(inv)
	if err != nil {
		return err
	}
	if *version != "" {
		p.Version = *version
	}
	bar := newProgressBar(inv.Stderr)
	source := a.source(c, func(done, total int64) { bar.set("download", done, total) })
	if *file != "" {
		source = parts.File(*file)
	}
	folder, err := store.Add(ctx, p, source)
	bar.clear()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(inv.Stdout, "%s %s is in %s\n%s has its digest\n", a.title, p.Version, folder, store.Lock)
	return err
}

func (a addable) remove(_ context.Context, inv *Invocation) error {
	inv.dataFlag()
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	store, p, err := a.locked(inv)
	if err != nil {
		return err
	}
	err = store.Remove(p)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %s is not on this machine", a.title, p.Version)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(inv.Stdout, "%s %s was removed from this machine\n", a.title, p.Version)
	return err
}

func (a addable) status(_ context.Context, inv *Invocation) error {
	inv.dataFlag()
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	store, err := addedParts(inv)
	if err != nil {
		return err
	}
	all, err := store.Status()
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.Name != a.part.Name {
			continue
		}
		where := "not on this machine; `daawo " + p.Name + " add` gets it"
		if p.Folder != "" {
			where = fmt.Sprintf("%s, %s", p.Folder, bytesText(p.Bytes))
		}
		_, err := fmt.Fprintf(inv.Stdout, "version  %s\n digest  sha256:%s\n folder  %s\n", p.Version, p.SHA256,
			inv.named(where))
		return err
	}
	_, err = fmt.Fprintf(inv.Stdout, "%s is not added; %s adds it\n", a.title,
		inv.named("`daawo "+a.part.Name+" add`"))
	return err
}
