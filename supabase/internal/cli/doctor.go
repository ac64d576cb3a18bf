package cli

import (
	"context"
	"errors"
	"fmt"

	"daawo/supabase/internal/app/doctor"
)

var doctorCommand = Command{
	Name:  "doctor",
	Args:  "[FLAGS]",
	Short: "Check an installation for problems and say how to fix them",
	Long: `
Checks the configuration, keys, data folder, disk, clock, running server, database, mail server and backups. It reads the
same variables as 'daawo start' and changes nothing. The exit code is 1 if a check is BAD.`,
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
	for _, f := range doctor.Examine(ctx, *a.Options) {
		fmt.Fprintf(inv.Stdout, "%-5s %-14s %s\n", f.Verdict, f.What, inv.named(f.Says))
		if f.Verdict == doctor.Bad {
			bad++
		}
	}
	return failedChecks(bad)
}

// failedChecks returns an error that counts the failed checks, or nil if there are none.
func failedChecks(n int) error {
	switch n {
	case 0:
		return nil
	case 1:
		return errors.New("1 check failed")
	}
	return fmt.Errorf("%d checks failed", n)
}
