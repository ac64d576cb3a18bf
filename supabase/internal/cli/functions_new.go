package cli

import (
	"cmp"
	"fmt"

	"daawo/supabase/internal/functions/scaffold"
)

func newFunction(inv *Invocation) error {
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	written, err := scaffold.New(cmp.Or(inv.workdir, "."), inv.args[0])
	if err != nil {
		return err
	}
	for _, file := range written {
		fmt.Fprintln(inv.Stdout, "wrote", file)
	}
	fmt.Fprintln(inv.Stdout,
		inv.named(fmt.Sprintf("/functions/v1/%s serves it after the next build; `daawo start --dev` serves it at once",
			inv.args[0])))
	return nil
}
