package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

var logsCommand = Command{
	Name:  "logs",
	Args:  "[FLAGS]",
	Short: "Print the log of a server in the background, or of the functions",
	Long: `
Prints the log of a server that 'daawo start --detach' has started. A server in the foreground writes its log to its terminal;
then these are the lines of the functions, as from 'daawo functions logs'.`,
	Run: runLogs,
}

func runLogs(ctx context.Context, inv *Invocation) error {
	var l logRequest
	l.declareFlags(inv)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	_, data, err := inv.installation()
	if err != nil {
		return err
	}
	if !inv.Given("since") && !inv.Given("level") {
		err := printLog(ctx, inv.Stdout, filepath.Join(data, serverLog), l.follow)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		fmt.Fprintln(inv.Stderr, "lines of the functions; the server writes its log to its terminal")
	}
	return l.print(ctx, inv)
}
