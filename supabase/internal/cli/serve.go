package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/base/memory"
)

var serveCommand = Command{
	Name:  "serve",
	Args:  "gateway|functions|rest|auth|storage|realtime [FLAGS]",
	Short: "Serve one service alone",
	Long: `
gateway and functions run next to the upstream images in Docker compose; docs/docker.md lists their variables.
rest, auth, storage and realtime replace the upstream images: they read the same variables (PGRST_*, GOTRUE_*, those of
storage-api and of Realtime), listen on the same ports and have the same health checks.`,
	Run: runServe,
}

// services returns the functions that serve one service alone, by its name.
func services() map[string]func(context.Context, *Invocation) error {
	return map[string]func(context.Context, *Invocation) error{
		"gateway":   serveApp((*app.App).RunGateway),
		"functions": serveApp((*app.App).RunFunctions),
		"rest":      alone(serveREST),
		"auth":      alone(serveAuth),
		"storage":   alone(serveStorage),
		"realtime":  alone(serveRealtime),
	}
}

// alone limits the memory of the process, which serves one service.
func alone(serve func(context.Context, *Invocation) error) func(context.Context, *Invocation) error {
	return func(ctx context.Context, inv *Invocation) error {
		memory.Limit(false)
		return serve(ctx, inv)
	}
}

func runServe(ctx context.Context, inv *Invocation) error {
	serve, ok := services()[inv.Verb()]
	if !ok {
		if err := inv.parse(0, 0); err != nil {
			return err
		}
		return usagef("no such service; the services are %s", strings.Join(slices.Sorted(maps.Keys(services())), ", "))
	}
	return serve(ctx, inv)
}

// serveApp returns a function that runs one part of the stack.
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

// announce prints that the server is ready, and its addresses. It prints keys only if they are the
// well-known local ones, because the output of a service is kept in a log.
func (inv *Invocation) announce(info app.Info) {
	shown, hidden := info.Announcement()
	fmt.Fprintf(inv.Stdout, "\nready in %s\n\n", info.Ready)
	_ = shown.Write(inv.Stdout, "pretty") // a closed terminal cannot show the error
	if hidden {
		fmt.Fprintln(inv.Stdout,
			inv.named("\n"+cmp.Or(info.Rest, "`daawo status` prints the keys and the address of the database")))
	}
	fmt.Fprintln(inv.Stdout)
}
