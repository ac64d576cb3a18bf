package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"filippo.io/age"
)

var restoreCommand = Command{
	Name:  "restore",
	Args:  "--from PLACE [FLAGS]",
	Short: "Fill a new data folder from a backup, as of any moment",
	Long: `
Brings back the database, the files and the keys as they were at a moment between the oldest backup and the last minute,
looks through them, and leaves an ordinary data folder for 'daawo start'. The server must be stopped and the data folder
new: move a damaged one away first, so that nothing is lost by a mistake.

  daawo restore --from /mnt/usb/daawo --data /srv/daawo
  daawo restore --from s3://bucket/daawo --to 2026-11-21T10:00:00Z --identity key.txt --data /srv/daawo`,
	Run: runRestore,
}

func runRestore(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	from := inv.flags.String("from", "", "`place` that holds the backups (BACKUP_TO)")
	to := inv.flags.String("to", "", "`time` to go back to, as 2026-11-21T10:00:00Z; the newest state when not given")
	identity := inv.flags.String("identity", "", "`file` with the age secret key of encrypted backups")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	var moment time.Time
	if *to != "" {
		var err error
		if moment, err = time.Parse(time.RFC3339, *to); err != nil {
			return usagef("--to %s: write the time as 2026-11-21T10:00:00Z or 2026-11-21T13:00:00+03:00", *to)
		}
	}
	identities, err := readIdentities(*identity)
	if err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	if *from == "" {
		if *from = a.BackupPlace(); *from == "" {
			return usagef("say where from: --from PLACE, or BACKUP_TO")
		}
	}
	bar := newBar(inv.Stderr)
	defer bar.done()
	r, err := a.Restore(ctx, *from, moment, identities, bar.set)
	if err != nil {
		return err
	}
	bar.done()
	fmt.Fprintf(inv.Stdout, "restored backup %s and %d pieces of the log", r.Backup.ID, r.Segments)
	if !r.Last.IsZero() {
		fmt.Fprintf(inv.Stdout, ", up to %s", r.Last.Format(time.RFC3339))
	}
	fmt.Fprintf(inv.Stdout, ": %d tables, %d files\n", len(r.Tables), r.Files)
	return nil
}

func readIdentities(name string) ([]age.Identity, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	identities, err := age.ParseIdentities(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return identities, nil
}
