package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"daawo/supabase/edge/sms"
	"daawo/supabase/internal/functions/scaffold"
)

func newFunction(inv *Invocation) error {
	ts := inv.flags.Bool("ts", false,
		"write supabase/functions/NAME/index.ts, which Deno runs, also in a project with a Go module")
	codes := inv.flags.Bool("sms", false, "write the function of auth's hook send_sms, with the migration of its log")
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	dir, write := cmp.Or(inv.workdir, "."), scaffold.New
	_, noModule := os.Stat(filepath.Join(dir, "go.mod"))
	typeScript := *ts || noModule != nil
	switch {
	case typeScript && *codes:
		return usagef("--sms writes Go: it needs a project with a Go module, and no --ts")
	case typeScript:
		write = scaffold.NewTypeScript
	case *codes:
		write = scaffold.NewSMS
	}
	written, err := write(dir, inv.args[0])
	if err != nil {
		return err
	}
	for _, file := range written {
		fmt.Fprintln(inv.Stdout, "wrote", file)
	}
	if *codes {
		if _, err := writeMigration(inv, "sms_deliveries", sms.Schema); err != nil {
			return err
		}
	}
	if typeScript {
		fmt.Fprintln(inv.Stdout, inv.named("the next `daawo start` serves /functions/v1/"+inv.args[0]+
			"; with --dev it is served at once"))
		return nil
	}
	fmt.Fprintln(inv.Stdout,
		inv.named(fmt.Sprintf("/functions/v1/%s serves it after the next build; `daawo start --dev` serves it at once",
			inv.args[0])))
	return nil
}
