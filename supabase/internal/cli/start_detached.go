package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/base/atomicfile"
	"daawo/supabase/internal/base/config"
)

// serverLog is the file in the data folder with the log of a server in the background.
const serverLog = "server.log"

// startDatabase is `db start`. The official CLI starts only Postgres; here the services come with
// it.
func startDatabase(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	inv.startFlags()
	inv.ignore(nil, "from-backup")
	given := inv.args
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if inv.Given("from-backup") {
		return usagef("--from-backup: start the server, then load the file with `daawo sql -f FILE`")
	}
	return inv.startDetached(ctx, append([]string{"start"}, given...))
}

// startDetached starts the program again in the background and returns when it serves, functions
// that are built included. If a server runs already, it prints the addresses of that one.
func (inv *Invocation) startDetached(ctx context.Context, args []string) error {
	c, data, err := inv.installation()
	if err != nil {
		return err
	}
	var info app.Info
	switch err := control.Command(ctx, data, "/status", &info); {
	case err == nil:
		fmt.Fprintln(inv.Stderr, "a server already runs on", data)
		return info.Write(inv.Stdout, "pretty")
	case !errors.Is(err, datadir.ErrNotRunning):
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(data, 0o755); err != nil { // as the start does
		return datadir.Error(data, err)
	}
	log, err := os.OpenFile(filepath.Join(data, serverLog), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	server := exec.Command(program, append(args, "--detach=false")...)
	server.Stdout, server.Stderr = log, log
	server.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives the terminal
	if err := server.Start(); err != nil {
		return err
	}
	exited := make(chan error, 1)
	go func() { exited <- server.Wait() }()
	progress := newActivity(inv, inv.Stderr)
	progress.begin(startStep(data))
	defer progress.cancel()
	if info, err = awaitServer(ctx, data, exited); err != nil {
		if ctx.Err() != nil {
			_ = server.Process.Signal(syscall.SIGTERM) // it may have exited
			return ctx.Err()
		}
		text, _ := os.ReadFile(log.Name()) // the error says enough without the log
		return fmt.Errorf("the server has not started: %w\n%s", err, lastLines(string(text), 20))
	}
	progress.end()
	if c.FunctionsURL == "" {
		if err := awaitFunctions(ctx, inv, data, progress); err != nil {
			return err
		}
	}
	fmt.Fprintf(inv.Stdout, "\nready in %s; `%s stop` stops it\n\n", info.Ready, inv.Name)
	return info.Write(inv.Stdout, "pretty")
}

// awaitServer returns the addresses of a server when it serves. exited has the result of its
// process.
func awaitServer(ctx context.Context, data string, exited <-chan error) (info app.Info, err error) {
	for {
		if err = control.Command(ctx, data, "/status", &info); err == nil {
			return info, nil
		}
		select {
		case <-ctx.Done():
			return info, ctx.Err()
		case err := <-exited:
			if err == nil {
				err = errors.New("it exited")
			}
			return info, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// awaitFunctions waits until the functions of the project are built. If they cannot be, it prints
// why: the rest of the server serves.
func awaitFunctions(ctx context.Context, inv *Invocation, data string, progress *activity) error {
	for shown := false; ; {
		var info control.FunctionsInfo
		if err := control.Command(ctx, data, "/functions/list", &info); err != nil {
			return err
		}
		if !info.Building {
			progress.end()
			if info.Problem != "" {
				inv.warn("the functions do not serve: %s", info.Problem)
			}
			return nil
		}
		if !shown {
			progress.begin("building functions")
			shown = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// excludeFlag declares -x of the official CLI, which names containers. Those that a setting
// switches are left out; the others are part of this program. As there, an unknown name is a
// warning.
func (inv *Invocation) excludeFlag() {
	const separable = "gotrue,realtime,storage-api,imgproxy,postgrest,mailpit"
	off := map[string]func(*config.Config){
		"realtime":    func(c *config.Config) { c.Realtime.Enabled = false },
		"storage-api": func(c *config.Config) { c.Storage.Enabled = false },
		"postgrest":   func(c *config.Config) { c.API.Enabled = false },
		"mailpit":     func(c *config.Config) { c.Inbox.Enabled = false },
		"inbucket":    func(c *config.Config) { c.Inbox.Enabled = false },
		"imgproxy":    func(c *config.Config) { c.Storage.ImageTransformation.Enabled = false },
		"gotrue":      func(c *config.Config) { c.Auth.Enabled = false },
	}
	inseparable := []string{"kong", "postgres-meta", "studio", "edge-runtime", "logflare", "vector", "supavisor"}
	exclude := func(names string) error {
		for name := range strings.SplitSeq(names, ",") {
			name = strings.TrimSpace(name)
			if set, ok := off[name]; ok {
				inv.overrides = append(inv.overrides, set)
			} else if !slices.Contains(inseparable, name) {
				fmt.Fprintf(inv.Stderr, "--exclude: there is no service %q; services that can be left out: %s\n",
					name, separable)
			}
		}
		return nil
	}
	inv.flags.Func("exclude", "leave out `services`: "+separable, exclude)
	inv.flags.Func("x", "the same as --exclude", exclude)
}

// removeServerLog deletes the log of an earlier server in the background.
func (inv *Invocation) removeServerLog() error {
	_, data, err := inv.installation()
	if err != nil {
		return err
	}
	if datadir.Locked(data) {
		return nil // a server runs, and the start will say so
	}
	if err := os.Remove(filepath.Join(data, serverLog)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return datadir.Error(data, err)
	}
	return nil
}

// printLog copies the log of a server in the background. With follow it waits for more until ctx
// ends.
func printLog(ctx context.Context, w io.Writer, name string, follow bool) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	for {
		if _, err := io.Copy(w, file); err != nil || !follow {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}
