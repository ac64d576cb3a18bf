package cli

import (
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
)

func isHelp(s string) bool { return s == "--help" || s == "-h" || s == "-help" }

// overview prints the help of the program: all commands.
func (env *Env) overview() {
	w := env.Stdout
	fmt.Fprintf(w, `%[1]s runs a Supabase-compatible backend with a real Postgres in one program.

  %[1]s start                          serve on http://127.0.0.1:54321 until Ctrl-C
  eval "$(%[1]s status -o env)"        set the addresses and keys as shell variables, while it runs

Usage: %[1]s COMMAND [FLAGS]

Commands:
`, env.Name)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, c := range env.commands() {
		fmt.Fprintf(t, "  %s\t%s\n", c.Name, c.Short)
	}
	_ = t.Flush() // a closed terminal cannot show the error
	fmt.Fprintf(w, `
Run %s COMMAND --help for the help of a command. All other settings are environment variables and keys of
supabase/config.toml: see docs/configuration.md. Exit codes: 0 success, 1 failure, 2 wrong usage.
`, env.Name)
}

// help prints the help of the command: usage, examples, flags.
func help(inv *Invocation) {
	w := inv.Stdout
	fmt.Fprintf(w, "%s\n\nUsage: %s\n", inv.command.Short,
		strings.TrimSpace(inv.Name+" "+inv.command.Name+" "+inv.command.Args))
	if inv.command.Long != "" {
		fmt.Fprintf(w, "\n%s\n", inv.named(strings.TrimSpace(inv.command.Long)))
	}
	fmt.Fprintln(w, "\nFlags:")
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	inv.flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		dashes := "--"
		if len(f.Name) == 1 {
			dashes = "-"
		}
		if f.DefValue != "" && f.DefValue != "false" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(t, "  %s%s %s\t%s\n", dashes, f.Name, value, usage)
	})
	_ = t.Flush() // a closed terminal cannot show the error
}
