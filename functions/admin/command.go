package admin

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"daawo/supabase/edge"
	"daawo/supabase/stack"
)

// Commands returns the commands `reports`, `resources` and `staff`.
func Commands() []stack.Command {
	return []stack.Command{reportsCommand, resourcesCommand, staffCommand}
}

// verb is one action of a command, such as list of `daawo reports list`.
type verb struct {
	args int // number of arguments
	// prepare declares the verb's flags. After they are parsed, check validates them (nil if there
	// is nothing to check), then do runs.
	prepare func(*stack.Call) (check func() error, do work)
}

// work is the part of a verb that needs the installation.
type work func(context.Context, *Client) error

// withClient returns the Run function of a command with verbs.
func withClient(command, usage string, verbs map[string]verb) func(context.Context, *stack.Call) error {
	return func(ctx context.Context, call *stack.Call) error {
		v, ok := verbs[call.Verb()]
		if !ok {
			if err := call.Parse(0); err != nil {
				return err
			}
			return stack.Usagef("usage: daawo %s %s", command, usage)
		}
		check, do := v.prepare(call)
		if err := call.Parse(v.args); err != nil {
			return err
		}
		if check != nil {
			if err := check(); err != nil {
				return err
			}
		}
		at, err := call.Installation(ctx)
		if err != nil {
			return err
		}
		c, err := Open(ctx, at)
		if err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
		return errors.Join(do(ctx, c), c.Close(context.WithoutCancel(ctx)))
	}
}

// RowLink returns the line of a notice that says how to read a report on the command line.
func RowLink(row edge.Row) string { return "Read it with: daawo " + row.Table + " show " + row.Value }

// DeskLink returns the line of a notice that leads to a report in the desk at address.
func DeskLink(address string, row edge.Row) string {
	return "Read it: " + address + "/#/" + row.Table + "/" + url.PathEscape(row.Value)
}
