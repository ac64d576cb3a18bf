package cli

import (
	"context"
	"fmt"
	"time"
)

var backupCommand = Command{
	Name:  "backup",
	Args:  "[list|verify] [FLAGS]",
	Short: "Back up the installation and check that the backup can be restored",
	Long: `
Copies the database, the stored files and the keys to a folder or an S3 bucket. The server may be running or stopped. The
backup counts only after it was restored into a temporary folder and all tables and indexes there were read. With
BACKUP_TO set, 'daawo start' makes a backup every BACKUP_EVERY and stores later changes within a minute.

  daawo backup --to /mnt/usb/daawo                    make a backup now
  daawo backup verify --to s3://bucket/daawo          check the store
  BACKUP_RECIPIENTS=age1… daawo backup --to FOLDER    encrypt the backup. 'age-keygen' makes the pair of keys; keep the
                                                      secret key on another machine`,
	Verbs: []Command{
		{Name: "list", Args: "[FLAGS]", Short: "List the backups of a store"},
		{Name: "verify", Args: "[FLAGS]", Short: "Read everything in the store and compare checksums; needs no key"},
	},
	Run: runBackup,
}

func runBackup(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	to := inv.flags.String("to", "",
		"`store`: a folder or s3://bucket/prefix?endpoint=HOST&region=R (environment: BACKUP_TO)")
	verb := inv.Verb()
	if err := inv.parse(0, 1); err != nil {
		return err
	}
	switch { // the verb may also follow the flags
	case verb == "" && len(inv.args) == 1:
		verb = inv.args[0]
	case len(inv.args) == 1:
		return inv.usage()
	}
	if verb != "" && verb != "list" && verb != "verify" {
		return inv.usage()
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	if *to == "" {
		if *to = a.Config.Backup.To; *to == "" {
			return usagef("no store given; set --to STORE or BACKUP_TO")
		}
	}
	switch verb {
	case "list":
		return inv.listBackups(ctx, *to)
	case "verify":
		return inv.verifyBackups(ctx, *to)
	}
	progress := newProgressBar(inv.Stderr)
	defer progress.clear()
	started := time.Now()
	m, err := a.Backup(ctx, *to, progress.set)
	if err != nil {
		return err
	}
	progress.clear()
	fmt.Fprintf(inv.Stdout, "backup %s made and checked by restoring it: %s in %s\n", m.ID, bytesText(m.Base.Size),
		time.Since(started).Round(10*time.Millisecond))
	return nil
}
