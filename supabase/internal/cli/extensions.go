package cli

import (
	"context"
	"fmt"
	"strings"

	"daawo/supabase/internal/database/extension"
)

var extensionsCommand = Command{
	Name:  "extensions",
	Args:  "install DIR",
	Short: "Add pg_net, supabase_vault, pgmq and others to another Postgres",
	Long: `
Writes the extensions that the embedded Postgres has in SQL to the extension folder of another Postgres. A stack
that is started with --database-url and a superuser then runs jobs and sends requests for that server. Extensions
that the folder already has from elsewhere stay as they are.

  sudo daawo extensions install /usr/share/postgresql/17/extension`,
	Run: func(_ context.Context, inv *Invocation) error {
		verb := inv.Verb()
		if err := inv.parse(1, 1); err != nil {
			return err
		}
		if verb != "install" {
			return inv.usage()
		}
		written, kept, err := extension.Install(inv.args[0])
		if err != nil {
			return err
		}
		fmt.Fprintln(inv.Stdout, "installed:", strings.Join(written, ", "))
		if len(kept) > 0 {
			fmt.Fprintln(inv.Stdout, "left as they are:", strings.Join(kept, ", "))
		}
		return nil
	},
}
