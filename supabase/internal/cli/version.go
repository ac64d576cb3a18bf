package cli

import (
	"context"
	"fmt"
	"runtime"

	"daawo/supabase/internal/postgres"
)

var versionCommand = Command{
	Name:  "version",
	Short: "Print the versions of this program and of what is inside",
	Run: func(_ context.Context, inv *Invocation) error {
		if err := inv.parse(0, 0); err != nil {
			return err
		}
		fmt.Fprintf(inv.Stdout, "daawo %s\nPostgres %s\n%s %s/%s\n", inv.Version, postgres.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return nil
	},
}
