package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/base/memory"
)

var serveCommand = Command{
	Name:  "serve",
	Short: "Serve one service alone",
	Long: `
gateway and functions run next to the upstream images in Docker compose; docs/docker.md lists their variables.
rest, auth, storage, realtime and meta replace the upstream images: they read the same variables (PGRST_*, GOTRUE_*,
PG_META_*, the ones of storage-api and Realtime), listen on the same ports and have the same health checks.`,
	Verbs: []Command{
		{Name: "gateway", Args: "[FLAGS]", Short: "The public port in front of other services",
			Run: services["gateway"]},
		{Name: "functions", Args: "[FLAGS]", Short: "Edge functions and background jobs", Run: services["functions"]},
		{Name: "rest", Args: "[FILE] [FLAGS]", Short: "The REST API, in place of PostgREST", Run: services["rest"]},
		{Name: "auth", Args: "[FLAGS]", Short: "Users and sessions, in place of GoTrue", Run: services["auth"]},
		{Name: "storage", Args: "[FLAGS]", Short: "Files, in place of storage-api", Run: services["storage"]},
		{Name: "realtime", Args: "[FLAGS]", Short: "Broadcast, presence and changes, in place of Realtime",
			Run: services["realtime"]},
		{Name: "meta", Args: "[FLAGS]", Short: "Describe and change the database, in place of postgres-meta",
			Run: services["meta"]},
	},
}

// services holds the functions that serve one service alone, by its name.
var services = map[string]func(context.Context, *Invocation) error{
	"gateway":   serveApp((*app.App).RunGateway),
	"functions": serveApp((*app.App).RunFunctions),
	"rest":      alone(serveREST),
	"auth":      alone(serveAuth),
	"storage":   alone(serveStorage),
	"realtime":  alone(serveRealtime),
	"meta":      alone(serveMeta),
}

// settled is how long after its start a service is trimmed.
const settled = 5 * time.Second

// alone limits the memory of the process, which serves one service. The program holds every part,
// and its start reads more of it than one service needs.
func alone(serve func(context.Context, *Invocation) error) func(context.Context, *Invocation) error {
	return func(ctx context.Context, inv *Invocation) error {
		memory.Limit(false)
		defer time.AfterFunc(settled, memory.Trim).Stop()
		return serve(ctx, inv)
	}
}

// serveApp returns a function that runs one part of the stack.
func serveApp(run func(*app.App, context.Context, func(app.Info)) error) func(context.Context, *Invocation) error {
	return func(ctx context.Context, inv *Invocation) error {
		inv.dataFlag()
		inv.startFlags()
		if err := inv.parse(0, 0); err != nil {
			return err
		}
		return inv.serveParts(ctx, run)
	}
}

// serveParts runs one part of the stack, after parse.
func (inv *Invocation) serveParts(ctx context.Context,
	run func(*app.App, context.Context, func(app.Info)) error) error {
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	return run(a, ctx, inv.announce)
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
