package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/app/datadir"
)

// The exported methods of Invocation serve the commands that a program adds (Env.Commands). Package
// stack wraps them.

// Installation says how to reach a running stack. Addresses have no path and no trailing slash.
type Installation struct {
	Database string // URL of the database
	API      string // address of the gateway for programs on this machine
	Public   string // address for browsers, for links
	Key      string // service_role key
	Admin    string // address of the administrators' application, "" if there is none
}

// installationOf returns how to reach the stack that info describes.
func installationOf(info app.Info) Installation {
	return Installation{
		Database: info.Get("DB_URL"), API: info.Get("INSIDE_URL"), Public: info.Get("SITE_URL"),
		Key: info.Get("SERVICE_ROLE_KEY"), Admin: info.Get("DESK_URL"),
	}
}

// Usagef returns an error that makes the program exit with 2.
func Usagef(format string, args ...any) error { return usagef(format, args...) }

// Flags returns the flag set in which a command declares its flags before Parse.
func (inv *Invocation) Flags() *flag.FlagSet { return inv.flags }

// Verb removes and returns the first argument, such as list of `daawo functions list`. It returns
// "" if the first argument is a flag or missing.
func (inv *Invocation) Verb() string {
	if len(inv.args) == 0 || strings.HasPrefix(inv.args[0], "-") {
		return ""
	}
	verb := inv.args[0]
	inv.args = inv.args[1:]
	return verb
}

// Parse declares --data and reads the flags. It returns a usage error unless there are n other
// arguments. They may precede the flags.
func (inv *Invocation) Parse(n int) error {
	inv.dataFlag()
	return inv.parseMixed(n, n)
}

// Given reports, after Parse, whether a flag was on the command line.
func (inv *Invocation) Given(name string) bool {
	given := false
	inv.flags.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// Arguments returns, after Parse, the arguments that are not flags.
func (inv *Invocation) Arguments() []string { return inv.args }

// Installation returns the installation that the command line selects: the server that runs on the
// data folder. If none runs there, as inside a container, DATABASE_URL, SUPABASE_URL, SITE_URL and
// SERVICE_ROLE_KEY describe it.
func (inv *Invocation) Installation(ctx context.Context) (Installation, error) {
	get := func(name string) string {
		value, _ := inv.Getenv(name)
		return strings.TrimRight(value, "/")
	}
	at := Installation{Database: get("DATABASE_URL"), API: get("SUPABASE_URL"), Public: get("SITE_URL"),
		Key: get("SERVICE_ROLE_KEY"), Admin: get("DESK_URL")}
	info, err := inv.status(ctx)
	switch {
	case err == nil:
		database := at.Database
		at = installationOf(info)
		at.Database = cmp.Or(database, at.Database)
	case at.Database == "" || !errors.Is(err, datadir.ErrNotRunning):
		return Installation{}, err
	}
	at.Public = cmp.Or(at.Public, at.API)
	return at, nil
}

// Confirm asks a question on the terminal and reports whether the answer is yes. If ctx ends first,
// the answer is no.
func (inv *Invocation) Confirm(ctx context.Context, question string) bool {
	if inv.yes {
		return true
	}
	fmt.Fprintf(inv.Stderr, "%s [y/N] ", question)
	answer, _ := until(ctx, func() (string, error) {
		return bufio.NewReader(inv.Stdin).ReadString('\n') // without input the answer is no
	})
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// readInput returns the whole standard input.
func (inv *Invocation) readInput(ctx context.Context) ([]byte, error) {
	return until(ctx, func() ([]byte, error) { return io.ReadAll(inv.Stdin) })
}

// until returns the result of read, or the error of ctx if ctx ends first. A read from a terminal
// cannot be interrupted, so it then continues in its goroutine.
func until[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := read()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}
