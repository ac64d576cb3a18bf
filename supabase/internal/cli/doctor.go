package cli

import (
	"context"
	"errors"
	"fmt"

	"daawo/supabase/internal/app"
)

var doctorCommand = Command{
	Name:  "doctor",
	Args:  "[FLAGS]",
	Short: "Look for what is wrong with an installation and say what to do",
	Long: `
Looks at configuration, keys, data folder, disk, clock, the running server and its database, the mail server and the
backups, with the same variables as 'daawo start'. It changes nothing, and exits with 1 when something is bad.`,
	Run: runDoctor,
}

func runDoctor(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	inv.startFlags()
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	bad := 0
	for _, f := range a.Examine(ctx) {
		fmt.Fprintf(inv.Stdout, "%-5s %-14s %s\n", f.Verdict, f.What, f.Says)
		if f.Verdict == app.Bad {
			bad++
		}
	}
	if bad > 0 {
		return badThings(bad)
	}
	return nil
}

func badThings(n int) error {
	if n == 1 {
		return errors.New("1 thing is bad")
	}
	return fmt.Errorf("%d things are bad", n)
}
