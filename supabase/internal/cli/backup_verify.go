package cli

import (
	"context"
	"errors"
	"fmt"

	"daawo/supabase/internal/database/backup/physical"
)

func (inv *Invocation) verifyBackups(ctx context.Context, location string) error {
	store, err := physical.OpenStore(location)
	if err != nil {
		return err
	}
	progress := newProgressBar(inv.Stderr)
	defer progress.clear()
	v, err := physical.Verify(ctx, store, progress.set)
	if err != nil {
		return err
	}
	progress.clear()
	fmt.Fprintf(inv.Stdout, "%d backups, %d WAL segments, %d files, %s: all match their checksums\n", v.Backups,
		v.Segments, v.Files, bytesText(v.Bytes))
	if v.Backups == 0 {
		return errors.New(store.String() + " contains no usable backup")
	}
	return nil
}
