package cli

import (
	"context"
	"fmt"
	"math"
	"strings"

	"daawo/supabase/internal/database/extension"
	"daawo/supabase/internal/database/server"
)

var extensionsCommand = Command{
	Name:  "extensions",
	Short: "Add an extension in C to the embedded Postgres, or ours to another one",
	Long: `
'add' takes folders with the files of extensions (control file, SQL, library) and packages of Debian for Postgres 17.
A new server with these files loads the libraries and creates the extensions before they are added to the data folder;
an error names the symbol or library that is missing. Restart the server to use them. Upgrades and backups keep them.
'remove' removes the files of an extension; drop it in the database first.

'install' writes the extensions that the embedded Postgres has in SQL to the extension folder of another Postgres. A
stack that is started with --database-url and a superuser then runs jobs and sends requests for that server. Extensions
that the folder already has from elsewhere stay as they are.

  daawo extensions add postgresql-17-rum_1.3.14-1_amd64.deb
  sudo daawo extensions install /usr/share/postgresql/17/extension`,
	Verbs: []Command{
		{Name: "add", Args: "PATH... [FLAGS]", Short: "Add extensions of folders and .deb files", Run: addExtension},
		{Name: "remove", Args: "NAME [FLAGS]", Short: "Remove the files of an added extension", Run: removeExtension},
		{Name: "install", Args: "DIR", Short: "Write pg_net, supabase_vault, pgmq and others into another Postgres",
			Run: installExtensions},
	},
}

func addExtension(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	if err := inv.parse(1, math.MaxInt); err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	source, err := a.PostgresSource()
	if err != nil {
		return err
	}
	names, err := server.AddExtension(ctx, server.Options{Source: source}, a.Data, inv.args...)
	if err != nil {
		return err
	}
	fmt.Fprintf(inv.Stdout, "added: %s; restart the server to use it\n", strings.Join(names, ", "))
	return nil
}

func removeExtension(_ context.Context, inv *Invocation) error {
	inv.dataFlag()
	if err := inv.parse(1, 1); err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	return server.RemoveExtension(a.Data, inv.args[0])
}

func installExtensions(_ context.Context, inv *Invocation) error {
	if err := inv.parse(1, 1); err != nil {
		return err
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
}
