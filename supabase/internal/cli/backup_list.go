package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"daawo/supabase/internal/database/backup/physical"
)

func (inv *Invocation) listBackups(ctx context.Context, location string) error {
	store, err := physical.OpenStore(location)
	if err != nil {
		return err
	}
	all, damage := physical.List(ctx, store)
	if len(all) == 0 {
		return cmp.Or(damage, errors.New(store.String()+" contains no backup"))
	}
	w := tabwriter.NewWriter(inv.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "BACKUP\tCOMPLETE AT\tSIZE\tPOSTGRES")
	for _, m := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.ID, m.End.UTC().Format(time.RFC3339), bytesText(m.Base.Size), m.Server)
	}
	return errors.Join(w.Flush(), damage)
}
