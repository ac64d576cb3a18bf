package cli

import (
	"context"
	"fmt"
	"runtime"

	"daawo/supabase/internal/database/server"
)

var versionCommand = Command{
	Name:  "version",
	Short: "Print the versions of this program, Postgres and Go",
	Run:   runVersion,
}

func runVersion(_ context.Context, inv *Invocation) error {
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	fmt.Fprintf(inv.Stdout, "%s %s\nPostgres %s\n%s %s/%s\n", inv.Name, inv.Version, server.Version,
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
