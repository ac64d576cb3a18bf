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
	for _, c := range env.list {
		fmt.Fprintf(t, "  %s\t%s\n", c.Name, env.named(c.Short))
	}
	_ = t.Flush() // a closed terminal cannot show the error
	fmt.Fprintf(w, `
Run %s COMMAND --help for the help of a command. All other settings are environment variables and keys of
supabase/config.toml: see docs/configuration.md. Exit codes: 0 success, 1 failure, 2 wrong usage.
`, env.Name)
}

// help prints the help of the command: usage, verbs, text, flags.
func help(inv *Invocation) {
	w := inv.Stdout
	fmt.Fprintf(w, "%s\n\nUsage: %s\n", inv.named(inv.command.Short),
		strings.TrimSpace(inv.Name+" "+inv.command.Name+" "+inv.command.Args))
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	if len(verbNames(inv.command)) > 0 {
		fmt.Fprintln(w, "\nActions:")
	}
	for _, v := range inv.command.Verbs {
		if v.Short != "" {
			fmt.Fprintf(t, "  %s\t%s\n", strings.TrimSpace(v.Name+" "+operands(v.Args)), inv.named(v.Short))
		}
	}
	_ = t.Flush() // a closed terminal cannot show the error
	if inv.command.Long != "" {
		fmt.Fprintf(w, "\n%s\n", inv.named(strings.Trim(inv.command.Long, "\n")))
	}
	fmt.Fprintln(w, "\nFlags:")
	for _, f := range listedFlags(inv.flags) {
		value, usage := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(t, "  %s %s\t%s\n", dashed(f.Name), value, usage)
	}
	_ = t.Flush()
}

// operands returns the arguments of a usage line without the flags.
func operands(args string) string { return strings.TrimSpace(strings.ReplaceAll(args, "[FLAGS]", "")) }

// listedFlags returns the flags that the help lists, sorted by name. A flag without a usage text is
// accepted for the official CLI's sake and has no effect.
func listedFlags(set *flag.FlagSet) (list []*flag.Flag) {
	set.VisitAll(func(f *flag.Flag) {
		if f.Usage != "" {
			list = append(list, f)
		}
	})
	return list
}

// dashed returns a flag as it is written.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
