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
)

// The exported methods of Invocation are for the commands of a program (Env.Commands). Package stack passes them on.

// Installation is how a command reaches an installation. Addresses have no path.
type Installation struct {
	Database string // URL of the database
	API      string // address of the gateway for this machine's own programs
	Public   string // address for browsers, for links
	Key      string // service_role key
}

// Usagef returns an error that makes the program exit with 2.
func Usagef(format string, args ...any) error { return usagef(format, args...) }

// Flags is where a command declares its flags, before Parse.
func (inv *Invocation) Flags() *flag.FlagSet { return inv.flags }

// Verb takes the first argument, such as list of `daawo functions list`; "" if the first argument is a flag or missing.
func (inv *Invocation) Verb() string { return inv.action() }

// Parse declares --data and reads the flags. Arguments may precede the flags; their number must be n.
func (inv *Invocation) Parse(n int) error {
	inv.dataFlag()
	return inv.parseMixed(n, n)
}

// Given reports whether a flag was on the command line.
func (inv *Invocation) Given(name string) bool { return inv.given(name) }

// Arguments are those besides the flags, after Parse.
func (inv *Invocation) Arguments() []string { return inv.args }

// Installation finds the installation of this command line: the one that runs on its data folder, or the one that the
// variables DATABASE_URL, SUPABASE_URL, SITE_URL and SERVICE_ROLE_KEY name, as inside a container.
func (inv *Invocation) Installation(ctx context.Context) (Installation, error) {
	get := func(name string) string {
		value, _ := inv.Getenv(name)
		return strings.TrimRight(value, "/")
	}
	at := Installation{Database: get("DATABASE_URL"), API: get("SUPABASE_URL"), Public: get("SITE_URL"), Key: get("SERVICE_ROLE_KEY")}
	info, err := inv.status(ctx)
	switch {
	case err == nil:
		at = Installation{
			Database: cmp.Or(at.Database, info.Get("DB_URL")), API: info.Get("INSIDE_URL"), Public: info.Get("SITE_URL"), Key: info.Get("SERVICE_ROLE_KEY"),
		}
	case at.Database == "" || !errors.Is(err, app.ErrNotRunning):
		return Installation{}, err
	}
	at.Public = cmp.Or(at.Public, at.API)
	return at, nil
}

// Confirm asks a question on the terminal and reports whether the answer is yes. The end of ctx is a no.
func (inv *Invocation) Confirm(ctx context.Context, question string) bool {
	fmt.Fprintf(inv.Stderr, "%s [y/N] ", question)
	answer, _ := until(ctx, func() (string, error) {
		return bufio.NewReader(inv.Stdin).ReadString('\n') // the end of input is a no
	})
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// readInput reads all of the standard input.
func (inv *Invocation) readInput(ctx context.Context) ([]byte, error) {
	return until(ctx, func() ([]byte, error) { return io.ReadAll(inv.Stdin) })
}

// until returns the result of read, or the error of ctx when ctx ends first. A read from a terminal cannot be interrupted:
// it goes on in its goroutine.
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
		var none T
		return none, ctx.Err()
	}
}
