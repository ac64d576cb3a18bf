package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/datadir"
)

var stopCommand = Command{
	Name:  "stop",
	Args:  "[FLAGS]",
	Short: "Stop the running server after the requests in flight",
	Run:   runStop,
}

func runStop(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	limit := inv.flags.Duration("timeout", 30*time.Second,
		"how long to wait for the end; the server goes on stopping afterwards")
	noBackup := inv.flags.Bool("no-backup", false, "then delete the local database and the stored files")
	inv.ignore([]string{"backup"})
	project := inv.flags.String("project-id", "", "refuse to stop the server of a project with another `name`")
	inv.refuse("all", "is not supported; stop each project in its folder")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	c, data, err := inv.installation()
	if err != nil {
		return err
	}
	if *project != "" && *project != c.ProjectID {
		return usagef("--project-id: the project of this folder is %q; stop the other one with --workdir or --data",
			c.ProjectID)
	}
	if *noBackup && !c.Loopback() {
		return usagef("--no-backup: deletes local data only, and this installation is public (%s); delete %s by hand",
			c.Where(), data)
	}
	err = stopServer(ctx, data, *limit)
	if errors.Is(err, datadir.ErrNotRunning) && (*noBackup || inv.official()) {
		fmt.Fprintln(inv.Stdout, "no server is running")
	} else if err != nil {
		return err
	} else {
		fmt.Fprintln(inv.Stdout, "stopped")
	}
	if !*noBackup {
		return nil
	}
	if err := deleteLocal(data); err != nil {
		return err
	}
	fmt.Fprintln(inv.Stdout, "deleted the database and the stored files in", data)
	return nil
}

// stopServer stops the server of a data folder and waits for its end.
func stopServer(ctx context.Context, data string, limit time.Duration) error {
	var reply struct{}
	if err := control.Command(ctx, data, "/stop", &reply); err != nil {
		return err
	}
	return awaitStop(ctx, limit, func() bool { return datadir.Locked(data) })
}

// deleteLocal deletes what belongs to the project: the database, the stored files and the mark of
// the project.
func deleteLocal(data string) error {
	for _, name := range []string{"postgres", "storage", "project.json"} {
		if err := os.RemoveAll(filepath.Join(data, name)); err != nil {
			return err
		}
	}
	return nil
}

// awaitStop waits until running returns false. It returns an error if ctx ends or after limit.
func awaitStop(ctx context.Context, limit time.Duration, running func() bool) error {
	timeout := time.After(limit)
	for running() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server is stopping, but may not have stopped yet: %w", ctx.Err())
		case <-timeout:
			return fmt.Errorf("the server has not stopped after %v; its log says why", limit)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
