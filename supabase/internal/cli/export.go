package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"daawo/supabase/internal/base/config"
)

var exportCommand = Command{
	Name:  "export",
	Args:  "FILE [FLAGS]",
	Short: "Write all content to one file that any other installation can import",
	Long: `
Writes one consistent snapshot of the tables, the accounts with their passwords and sessions, and the stored files, with
row counts and checksums. The format is independent of how Postgres runs, so it moves content between this program and
Docker compose. With BACKUP_RECIPIENTS set the file is encrypted. For Docker compose, give --database-url and --files.

  daawo export daawo.export
  daawo export --database-url postgres://supabase_admin:…@localhost:5432/postgres --files /srv/daawo/storage daawo.export`,
	Run: runExport,
}

// encrypted is the suffix of the names of encrypted exports.
const encrypted = ".age"

// contentFlags declares the flags of export and import that say where the content is.
func (inv *Invocation) contentFlags() (files *string) {
	inv.textFlag("database-url", "superuser `URL` of a Postgres to use instead of the embedded one",
		func(c *config.Config, s string) { c.DatabaseURL = s })
	return inv.flags.String("files", "", "`folder` of the stored files (default: the data folder's)")
}

func runExport(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	files := inv.contentFlags()
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	target := inv.args[0]
	if len(a.Config.Backup.Recipients) > 0 && !strings.HasSuffix(target, encrypted) {
		target += encrypted
	}
	// The file gets its name when the export is complete.
	var part string
	progress := newProgressBar(inv.Stderr)
	defer progress.clear()
	e, err := a.Export(ctx, *files, func() (io.WriteCloser, error) {
		f, err := createPart(target)
		if err != nil {
			return nil, err
		}
		part = f.Name()
		return f, nil
	}, progress.set)
	if part != "" {
		defer os.Remove(part)
	}
	if err == nil {
		err = syncAndRename(part, target)
	}
	if err != nil {
		return err
	}
	progress.clear()
	fmt.Fprintf(inv.Stdout, "exported %d rows of %d tables and %d files, %s, to %s\n", e.Rows, e.Tables, e.Files,
		bytesText(e.Bytes), target)
	return nil
}
