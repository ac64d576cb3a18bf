package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"daawo/supabase/internal/database/backup/logical"
)

var importCommand = Command{
	Name:  "import",
	Args:  "FILE [FLAGS]",
	Short: "Replace all content with the content of an export",
	Long: `
Both installations must have the same schema, so run the same release. Content that users created, such as accounts, is
replaced only with --replace. The import changes everything or nothing: all counts and checksums are compared first.

  daawo import daawo.export --data /srv/daawo
  daawo import --identity key.txt daawo.export`,
	Run: runImport,
}

func runImport(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	files := inv.contentFlags()
	identity := inv.flags.String("identity", "", "`file` with the age secret key of an encrypted export")
	replace := inv.flags.Bool("replace", false, "also replace content that users created here, such as accounts")
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
	progress := newProgressBar(inv.Stderr)
	defer progress.clear()
	e, err := a.Import(ctx, *files, logical.ImportOptions{
		Identities: identities, Encrypted: strings.HasSuffix(inv.args[0], encrypted), Replace: *replace,
		Protected: inv.UserTables, Progress: progress.set,
	}, in)
	if err != nil {
		return err
	}
	progress.clear()
	fmt.Fprintf(inv.Stdout, "imported %d rows of %d tables and %d files; counts and checksums match the export\n",
		e.Rows, e.Tables, e.Files)
	return nil
}
