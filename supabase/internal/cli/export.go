package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"daawo/supabase/internal/backup"
	"daawo/supabase/internal/config"
)

var exportCommand = Command{
	Name:  "export",
	Args:  "[FLAGS] FILE",
	Short: "Write all content to one file that any other installation can take over",
	Long: `
One consistent picture of the site's tables, the accounts with their passwords and sessions, and the files, with counts
and sums. It does not depend on how Postgres is run: it goes from the program to Docker compose and back. With
BACKUP_RECIPIENTS set it is encrypted. For the compose form give --database-url and the folder of the files.

  daawo export daawo.export
  daawo export --database-url postgres://supabase_admin:…@localhost:5432/postgres --files /srv/daawo/storage daawo.export`,
	Run: runExport,
}

var importCommand = Command{
	Name:  "import",
	Args:  "[FLAGS] FILE",
	Short: "Replace all content with that of an export",
	Long: `
Both installations must have the same schema: run the same release. What people have sent or signed up for is replaced
only with --replace. It is all or nothing: everything is compared with the counts and sums of the export first.

  daawo import daawo.export --data /srv/daawo
  daawo import --identity key.txt daawo.export`,
	Run: runImport,
}

func setDatabaseURL(c *config.Config, s string) { c.DatabaseURL = s }

func runExport(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	inv.textFlag("database-url", "`URL` of a Postgres that is not the one inside, as a superuser", setDatabaseURL)
	files := inv.flags.String("files", "", "`folder` of storage's files; the data folder's when not given")
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	// The name appears when the export is whole.
	target := inv.args[0]
	if a.Encrypts() && !strings.HasSuffix(target, encrypted) {
		target += encrypted
	}
	var part string
	bar := newBar(inv.Stderr)
	defer bar.done()
	e, err := a.Export(ctx, *files, func() (io.WriteCloser, error) {
		f, err := createPart(target)
		if err != nil {
			return nil, err
		}
		part = f.Name()
		return f, nil
	}, bar.set)
	if part != "" {
		defer os.Remove(part)
	}
	if err == nil {
		err = syncAndRename(part, target)
	}
	if err != nil {
		return err
	}
	bar.done()
	fmt.Fprintf(inv.Stdout, "exported %d rows of %d tables and %d files, %s, to %s\n", e.Rows, e.Tables, e.Files, bytesText(e.Bytes), target)
	return nil
}

// encrypted ends the names of encrypted exports.
const encrypted = ".age"

// CreatePrivate creates a file that only its owner can read. A file of that name is replaced by a new one:
// it may be readable by others, or be somebody else's. A device or a pipe is written to as it is.
func CreatePrivate(name string) (*os.File, error) {
	switch there, err := os.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case there.Mode().IsRegular():
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	default:
		return os.OpenFile(name, os.O_WRONLY, 0)
	}
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// createPart makes the hidden file beside an export that becomes it when it is whole. Each export has its own, two to one
// name, too; only the owner can read it.
func createPart(target string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*.part")
}

func syncAndRename(tmp, target string) error {
	f, err := os.Open(tmp)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, target)
}

func runImport(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	inv.textFlag("database-url", "`URL` of a Postgres that is not the one inside, as a superuser", setDatabaseURL)
	files := inv.flags.String("files", "", "`folder` of storage's files; the data folder's when not given")
	identity := inv.flags.String("identity", "", "`file` with the age secret key of an encrypted export")
	replace := inv.flags.Bool("replace", false, "replace reports and accounts that are here")
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	identities, err := readIdentities(*identity)
	if err != nil {
		return err
	}
	in, err := os.Open(inv.args[0])
	if err != nil {
		return err
	}
	defer in.Close()
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	bar := newBar(inv.Stderr)
	defer bar.done()
	e, err := a.Import(ctx, *files, backup.ImportOptions{
		Identities: identities, Encrypted: strings.HasSuffix(inv.args[0], encrypted), Replace: *replace, Protected: []string{"public.reports"}, Progress: bar.set,
	}, in)
	if err != nil {
		return err
	}
	bar.done()
	fmt.Fprintf(inv.Stdout, "imported %d rows of %d tables and %d files: counts and sums are those of the export\n", e.Rows, e.Tables, e.Files)
	return nil
}
