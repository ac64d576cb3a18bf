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
	Args:  "--from STORE [FLAGS]",
	Short: "Restore a backup into a new data folder, as of any point in time",
	Long: `
Restores the database, the stored files and the keys as of any point in time between the oldest backup and the last
stored change, and checks them. 'daawo start' then uses the data folder. The server must be stopped and the data folder
must be new or empty: move a damaged one away first.

  daawo restore --from /mnt/usb/daawo --data /srv/daawo
  daawo restore --from s3://bucket/daawo --to 2026-11-21T10:00:00Z --identity key.txt --data /srv/daawo`,
	Run: runRestore,
}

func runRestore(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	from := inv.flags.String("from", "", "`store` of the backups (environment: BACKUP_TO)")
	to := inv.flags.String("to", "",
		"restore the state at this `time`, such as 2026-11-21T10:00:00Z (default: the newest)")
	identity := inv.flags.String("identity", "", "`file` with the age secret key of encrypted backups")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	var target time.Time // zero for the newest state
	if *to != "" {
		var err error
		if target, err = time.Parse(time.RFC3339, *to); err != nil {
			return usagef("--to %s: is not a time; write it as 2026-11-21T10:00:00Z or 2026-11-21T13:00:00+03:00", *to)
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
		if *from = a.Config.Backup.To; *from == "" {
			return usagef("no store given; set --from STORE or BACKUP_TO")
		}
	}
	progress := newProgressBar(inv.Stderr)
	defer progress.clear()
	r, err := a.Restore(ctx, *from, target, identities, progress.set)
	if err != nil {
		return err
	}
	progress.clear()
	fmt.Fprintf(inv.Stdout, "restored backup %s and %d WAL segments", r.Backup.ID, r.Segments)
	if !r.Last.IsZero() {
		fmt.Fprintf(inv.Stdout, ", up to %s", r.Last.Format(time.RFC3339))
	}
	fmt.Fprintf(inv.Stdout, ": %d tables, %d files\n", len(r.Tables), r.Files)
	return nil
}

// readIdentities reads the secret keys in a file, or none if name is "".
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
