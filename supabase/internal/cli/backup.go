package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"daawo/supabase/internal/backup"
)

var backupCommand = Command{
	Name:  "backup",
	Args:  "[FLAGS] [list|verify]",
	Short: "Store a full copy somewhere else and prove that it can be restored",
	Long: `
Copies the database, the files and the keys to a folder or a bucket while the server runs or not, restores the copy into
a scratch folder, looks through every table and index, and only then calls it good. With BACKUP_TO set, 'daawo start'
does the same each BACKUP_EVERY and stores what is written in between within a minute.

  daawo backup --to /mnt/usb/daawo                    one backup, now
  daawo backup list                                   what BACKUP_TO holds
  daawo backup verify --to s3://bucket/daawo          reads everything stored and compares it with its sums; needs no key
  BACKUP_RECIPIENTS=age1… daawo backup --to FOLDER    encrypted: 'age-keygen' makes a pair of keys, keep the secret one elsewhere`,
	Run: runBackup,
}

func runBackup(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	to := inv.flags.String("to", "", "`place`: a folder or s3://bucket/prefix?endpoint=HOST&region=R (BACKUP_TO)")
	word, err := inv.leadingWord("list", "verify")
	if err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	if *to == "" {
		if *to = a.BackupPlace(); *to == "" {
			return usagef("say where to: --to PLACE, or BACKUP_TO")
		}
	}
	bar := newBar(inv.Stderr)
	defer bar.done()
	switch word {
	case "list":
		return inv.listBackups(ctx, *to)
	case "verify":
		return inv.verifyBackups(ctx, *to, bar)
	}
	begun := time.Now()
	m, err := a.Backup(ctx, *to, bar.set)
	if err != nil {
		return err
	}
	bar.done()
	fmt.Fprintf(inv.Stdout, "backup %s is good: %s, restored and looked through, in %s\n", m.ID, bytesText(m.Base.Size), time.Since(begun).Round(10*time.Millisecond))
	return nil
}

func (inv *Invocation) listBackups(ctx context.Context, place string) error {
	store, err := backup.OpenStore(place)
	if err != nil {
		return err
	}
	all, damage := backup.List(ctx, store)
	if len(all) == 0 {
		return cmp.Or(damage, errors.New("there is no backup in "+store.String()))
	}
	w := tabwriter.NewWriter(inv.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "BACKUP\tCOMPLETE AT\tSIZE\tPOSTGRES")
	for _, m := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.ID, m.End.UTC().Format(time.RFC3339), bytesText(m.Base.Size), m.Server)
	}
	return errors.Join(w.Flush(), damage)
}

func (inv *Invocation) verifyBackups(ctx context.Context, place string, bar *bar) error {
	store, err := backup.OpenStore(place)
	if err != nil {
		return err
	}
	v, err := backup.Verify(ctx, store, bar.set)
	if err != nil {
		return err
	}
	bar.done()
	fmt.Fprintf(inv.Stdout, "%d backups, %d pieces of the log, %d files, %s: all as they were stored\n", v.Backups, v.Segments, v.Files, bytesText(v.Bytes))
	if v.Backups == 0 {
		return errors.New("there is no good backup in " + store.String())
	}
	return nil
}

// leadingWord parses the flags and returns the word, one of words, that stands before or after them; "" for none.
func (inv *Invocation) leadingWord(words ...string) (string, error) {
	word := ""
	if len(inv.args) > 0 && slices.Contains(words, inv.args[0]) {
		word, inv.args = inv.args[0], inv.args[1:]
	}
	if err := inv.parse(0, 1); err != nil {
		return "", err
	}
	if len(inv.args) == 0 {
		return word, nil
	}
	if word != "" || !slices.Contains(words, inv.args[0]) {
		return "", usagef("usage: daawo %s %s", inv.command.Name, inv.command.Args)
	}
	return inv.args[0], nil
}
