package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"daawo/supabase/internal/functions/scaffold"
)

func newFunction(inv *Invocation) error {
	ts := inv.flags.Bool("ts", false,
		"write supabase/functions/NAME/index.ts, which Deno runs, also in a project with a Go module")
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	dir, write := cmp.Or(inv.workdir, "."), scaffold.New
	_, noModule := os.Stat(filepath.Join(dir, "go.mod"))
	typeScript := *ts || noModule != nil
	if typeScript {
		write = scaffold.NewTypeScript
	}
	written, err := write(dir, inv.args[0])
	if err != nil {
		return err
	}
	for _, file := range written {
		fmt.Fprintln(inv.Stdout, "wrote", file)
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
