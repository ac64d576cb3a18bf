package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"daawo/supabase/internal/base/config"
)

// run runs the command that the arguments name.
func run(ctx context.Context, env *Env) error {
	env.list = env.commands()
	args := globalsLast(env.Args)
	if len(args) == 0 || args[0] == "help" && len(args) == 1 || isHelp(args[0]) {
		env.overview()
		if len(args) == 0 {
			return usagef("no command given; see the list above")
		}
		return nil
	}
	name, args := args[0], args[1:]
	if name == "help" {
		if args[0] == "--markdown" {
			return env.markdown(ctx)
		}
		name, args = args[0], append(slices.Clone(args[1:]), "--help")
	}
	switch name {
	case "--version", "-v":
		name = "version"
	case "migrations":
		name = migrationCommand.Name
	case "extension":
		name = extensionsCommand.Name
	}
	all := env.list
	if i := named(all, name); i >= 0 {
		return env.invoke(ctx, all[i], args)
	}
	if reason := notHere(name); reason != "" {
		return usagef("%s", reason)
	}
	return usagef("%q is not a command%s; see `daawo --help`", name, suggestion(name, all))
}

// globalsLast moves --workdir and --data, which the official CLI accepts before the command, behind
// it.
func globalsLast(args []string) []string {
	var moved []string
	for len(args) > 0 && !isHelp(args[0]) {
		name, _, hasValue := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
		n := 1
		switch {
		case !strings.HasPrefix(args[0], "-") || args[0] == "-v" || args[0] == "--version":
			return append(slices.Clone(args), moved...)
		case !hasValue && name != "yes" && name != "debug" && name != "experimental":
			n = min(2, len(args))
		}
		moved, args = append(moved, args[:n]...), args[n:]
	}
	return append(slices.Clone(args), moved...)
}

// named returns the index of the command with a name, or -1.
func named(all []Command, name string) int {
	return slices.IndexFunc(all, func(c Command) bool { return c.Name == name })
}

// invoke runs a command, or the verb of it that args begin with.
func (env *Env) invoke(ctx context.Context, c Command, args []string) error {
	run := c.Run
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		i := named(c.Verbs, args[0])
		switch {
		case i < 0 && run == nil:
			return usagef("daawo %s has no action %q%s; the actions are %s", c.Name, args[0],
				suggestion(args[0], c.Verbs), strings.Join(verbNames(c), ", "))
		case i >= 0:
			verb := c.Verbs[i]
			if verb.Run != nil {
				run, args = verb.Run, args[1:]
			}
			verb.Name = c.Name + " " + verb.Name
			c = verb
		}
	}
	if c.Args == "" && len(c.Verbs) > 0 {
		c.Args = strings.Join(verbNames(c), "|") + " [FLAGS]"
	}
	inv := &Invocation{Env: env, command: c, args: args}
	inv.flags = flag.NewFlagSet(c.Name, flag.ContinueOnError)
	inv.flags.SetOutput(io.Discard)
	inv.flags.StringVar(&inv.workdir, "workdir", "",
		"`folder` that contains supabase/ (default: the working folder, or the built-in project)")
	if run == nil {
		if err := inv.parse(0, 0); err != nil {
			return err
		}
		return inv.usage()
	}
	return run(ctx, inv)
}

// verbNames returns the names of the verbs that the help lists.
func verbNames(c Command) (names []string) {
	for _, v := range c.Verbs {
		if v.Short != "" {
			names = append(names, v.Name)
		}
	}
	return names
}

// suggestion returns the nearest name of commands as a question, or "".
func suggestion(name string, all []Command) string {
	var names []string
	for _, c := range all {
		if c.Short != "" {
			names = append(names, c.Name)
		}
	}
	if near := config.Nearest(name, names); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}
