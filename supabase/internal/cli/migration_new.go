package cli

import (
	"context"
	"os"
)

func newMigration(ctx context.Context, inv *Invocation) error {
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	var text []byte
	if isPipe(inv.Stdin) {
		var err error
		if text, err = inv.readInput(ctx); err != nil {
			return err
		}
	}
	_, err := writeMigration(inv, inv.args[0], string(text))
	return err
}

// isPipe reports whether an input is a pipe.
func isPipe(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}
