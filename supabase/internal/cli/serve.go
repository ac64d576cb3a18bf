package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"daawo/supabase/internal/app"
)

var serveCommand = Command{
	Name:  "serve",
	Args:  "gateway|functions|rest|auth|storage [FLAGS]",
	Short: "Serve one service alone",
	Long: `
gateway and functions are this product's own halves of the compose form, set by the variables of docs/docker.md.
rest, auth and storage are drop-ins for their upstream images: they read the same variables (PGRST_*, GOTRUE_*,
storage-api's), listen on the same ports and answer the same health paths.`,
	Run: runServe,
}

// services are what can be served alone.
func services() map[string]func(context.Context, *Invocation) error {
	return map[string]func(context.Context, *Invocation) error{
		"gateway":   serveApp((*app.App).RunGateway),
		"functions": serveApp((*app.App).RunFunctions),
		"rest":      serveREST,
		"auth":      serveAuth,
		"storage":   serveStorage,
	}
}

func runServe(ctx context.Context, inv *Invocation) error {
	name := ""
	if len(inv.args) > 0 && !strings.HasPrefix(inv.args[0], "-") {
		name, inv.args = inv.args[0], inv.args[1:]
	}
	serve, ok := services()[name]
	if !ok {
		if err := inv.parse(0, 0); err != nil {
			return err
		}
		return usagef("name a service to serve: %s", strings.Join(slices.Sorted(maps.Keys(services())), ", "))
	}
	return serve(ctx, inv)
}

// serveApp runs one part of the stack as the compose form does.
func serveApp(run func(*app.App, context.Context, func(app.Info)) error) func(context.Context, *Invocation) error {
	return func(ctx context.Context, inv *Invocation) error {
		inv.dataFlag()
		inv.startFlags()
		if err := inv.parse(0, 0); err != nil {
			return err
		}
		a, err := inv.app(false)
		if err != nil {
			return err
		}
		return run(a, ctx, inv.announce)
	}
}

// announce says that the server is ready and where. A newcomer copies the local keys from it; an installation's own stay
// out of it, since a service's output is kept in a log.
func (inv *Invocation) announce(info app.Info) {
	shown, left := info.Announcement()
	fmt.Fprintf(inv.Stdout, "\nready in %s\n\n", info.Ready)
	_ = shown.Write(inv.Stdout, "pretty") // nothing to do about a closed terminal
	if left {
		fmt.Fprintln(inv.Stdout, "\n"+cmp.Or(info.Rest, "`daawo status` shows the keys and the database's address"))
	}
	fmt.Fprintln(inv.Stdout)
}
