package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"daawo/supabase/internal/cli/complete"
)

// eachHelp calls visit with the invocation of the --help of each command and of each of its verbs.
// Its flags are declared.
func (env *Env) eachHelp(ctx context.Context, visit func(path []string, inv *Invocation)) {
	for _, c := range env.list {
		paths := [][]string{{c.Name}}
		for _, name := range verbNames(c) {
			paths = append(paths, []string{c.Name, name})
		}
		for _, path := range paths {
			quiet := *env
			quiet.Stdout, quiet.Stderr = io.Discard, io.Discard
			quiet.onHelp = func(inv *Invocation) { visit(path, inv) }
			_ = quiet.invoke(ctx, c, append(path[1:len(path):len(path)], "--help")) // flag.ErrHelp
		}
	}
}

// describe returns all commands and verbs with their flags.
func (env *Env) describe(ctx context.Context) (all []complete.Command) {
	env.eachHelp(ctx, func(path []string, inv *Invocation) {
		c := complete.Command{Path: path, Short: inv.named(inv.command.Short)}
		for _, f := range listedFlags(inv.flags) {
			value, usage := flag.UnquoteUsage(f)
			c.Flags = append(c.Flags, complete.Flag{Name: dashed(f.Name), Short: usage, Value: value != ""})
		}
		all = append(all, c)
	})
	return all
}

// markdown prints the page of all commands: docs/commands.md.
func (env *Env) markdown(ctx context.Context) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, `# Commands

All commands of %[1]s with the help that %[1]s COMMAND --help prints. %[1]s help --markdown writes this page, and a test
compares the two. [official-cli.md](official-cli.md) lists the commands of the official Supabase CLI beside these.

Exit codes: 0 success, 1 failure, 2 wrong usage. All other settings are environment variables and keys of
config.toml ([configuration.md](configuration.md)).

## Overview

`, env.Name)
	fmt.Fprintln(&out, "| command | what it does |\n|---|---|")
	for _, c := range env.list {
		fmt.Fprintf(&out, "| [%[1]s](#%[2]s-%[1]s) | %[3]s |\n", c.Name, env.Name, env.named(c.Short))
	}
	env.eachHelp(ctx, func(path []string, inv *Invocation) {
		fmt.Fprintf(&out, "\n%s %s %s\n\n```text\n", strings.Repeat("#", 1+len(path)), env.Name,
			strings.Join(path, " "))
		inv.Stdout = &out
		help(inv)
		fmt.Fprintln(&out, "```")
	})
	_, err := out.WriteTo(env.Stdout)
	return err
}
