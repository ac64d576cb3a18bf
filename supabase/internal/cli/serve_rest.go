package cli

import (
	"context"
	"fmt"

	"daawo/supabase/internal/engine/rest/pgrst"
)

// serveREST replaces the PostgREST binary. It has the same flags.
func serveREST(ctx context.Context, inv *Invocation) error {
	config := inv.flags.String("config", "", "PostgREST configuration `file`; it can also be given without --config")
	dumpConfig := inv.flags.Bool("dump-config", false, "print the configuration and exit")
	dumpSchema := inv.flags.Bool("dump-schema", false, "print the schema cache and exit")
	ready := inv.flags.Bool("ready", false, "ask the admin port of a running server whether it is ready, and exit")
	var version, example bool
	for _, name := range []string{"version", "v"} {
		inv.flags.BoolVar(&version, name, false, "print the version of PostgREST that the server equals, and exit")
	}
	for _, name := range []string{"example", "e"} {
		inv.flags.BoolVar(&example, name, false, "print an example of a configuration file, and exit")
	}
	if err := inv.parse(0, 1); err != nil {
		return err
	}
	if len(inv.args) == 1 {
		*config = inv.args[0]
	}
	o := inv.pgrstOptions(*config)
	switch {
	case version:
		_, err := fmt.Fprint(inv.Stdout, pgrst.VersionText())
		return err
	case example:
		_, err := fmt.Fprint(inv.Stdout, pgrst.Example())
		return err
	case *dumpConfig:
		return pgrst.DumpConfig(ctx, o, inv.Stdout)
	case *dumpSchema:
		return pgrst.DumpSchema(ctx, o, inv.Stdout)
	case *ready:
		return pgrst.CheckReady(ctx, o, inv.Stdout)
	default:
		o.Stdout, o.Stderr = inv.Stdout, inv.Stderr
		return pgrst.Run(ctx, o)
	}
}
