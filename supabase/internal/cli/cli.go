// Package cli is the command line: one file per command, each of which parses its flags, calls one package and prints.
//
// Only package main imports it. A command returns an error to exit with 1 and a usage error to exit with 2.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"daawo/functions/edge"
	"daawo/supabase/internal/app"
	"daawo/supabase/internal/config"
	"daawo/supabase/internal/observe"
)

// Env is what a command runs in. main fills it from the process; tests from what they like.
type Env struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) (string, bool)

	Project   fs.FS                 // the project inside the program: config.toml, migrations, seed
	Site      fs.FS                 // the built site
	Postgres  func() (fs.FS, error) // the Postgres inside the program or beside it
	Functions map[string]edge.Func  // by name in the URL
	Version   string
}

// command is one word after the program's name.
type command struct {
	name  string
	args  string // as the usage line shows them
	short string // one line for the list
	long  string // further lines for its own help; examples
	run   func(context.Context, *invocation) error
}

// commands in the order in which a newcomer meets them.
func commands() []command {
	return []command{
		startCommand, statusCommand, stopCommand,
		reportsCommand, resourcesCommand, notifyCommand, functionsCommand,
		migrateCommand, genCommand, keysCommand, doctorCommand,
		serveCommand, restCommand, backupCommand, restoreCommand, exportCommand, importCommand,
		healthcheckCommand, versionCommand,
	}
}

// invocation is one run of a command.
type invocation struct {
	*Env
	command command
	flags   *flag.FlagSet
	args    []string // what follows the flags, after parse

	data      string // --data
	workdir   string // --workdir
	overrides []func(*config.Config)
}

// usageError is a mistake of the caller: exit code 2.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// Main runs the command line and returns the exit code: 0 done, 1 failed, 2 called wrongly.
func Main(ctx context.Context, env Env) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second Ctrl-C ends the program, whatever it does
	err := run(ctx, &env)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(env.Stderr, "daawo: %v\n", err)
		return 2
	}
	fmt.Fprintf(env.Stderr, "daawo: %v\n", err)
	return 1
}

func run(ctx context.Context, env *Env) error {
	if len(env.Args) == 0 || env.Args[0] == "help" && len(env.Args) == 1 || isHelp(env.Args[0]) {
		overview(env.Stdout)
		if len(env.Args) == 0 {
			return usagef("name a command")
		}
		return nil
	}
	name, args := env.Args[0], env.Args[1:]
	if name == "help" {
		name, args = args[0], []string{"--help"}
	}
	if name == "--version" || name == "-v" {
		name = "version"
	}
	for _, c := range commands() {
		if c.name == name {
			inv := &invocation{Env: env, command: c, args: args}
			inv.flags = flag.NewFlagSet(c.name, flag.ContinueOnError)
			inv.flags.SetOutput(io.Discard)
			inv.flags.StringVar(&inv.workdir, "workdir", "", "`folder` that holds supabase/; the project inside the program when there is none")
			return c.run(ctx, inv)
		}
	}
	return usagef("%q is not a command; `daawo --help` lists them", name)
}

func isHelp(s string) bool { return s == "--help" || s == "-h" || s == "-help" }

// parse reads the flags that the command has declared. more names the arguments that must follow.
func (inv *invocation) parse(least, most int) error {
	err := inv.flags.Parse(inv.args)
	if errors.Is(err, flag.ErrHelp) {
		inv.help()
		return err
	}
	if err != nil {
		return usagef("%v; `daawo %s --help` explains", err, inv.command.name)
	}
	inv.args = inv.flags.Args()
	if n := len(inv.args); n < least || n > most {
		return usagef("usage: daawo %s %s", inv.command.name, inv.command.args)
	}
	return nil
}

// dataFlag declares --data.
func (inv *invocation) dataFlag() {
	inv.flags.StringVar(&inv.data, "data", "", "data `folder` (DAAWO_DATA; .daawo)")
}

// config loads the configuration that this command line asks for.
func (inv *invocation) config() (*config.Config, error) {
	s := config.Sources{Name: "config.toml", Getenv: inv.Getenv, Overrides: inv.overrides}
	project, dir := inv.project()
	text, err := fs.ReadFile(project, "config.toml")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		s.File = text
	}
	if dir != "" {
		s.Dir, s.Name = dir, dir+"/config.toml"
	}
	if inv.data != "" {
		s.Overrides = append(s.Overrides, func(c *config.Config) { c.Data = inv.data })
	}
	return config.Load(s)
}

// project is the folder supabase/ of the working directory, else the project inside the program.
func (inv *invocation) project() (fs.FS, string) {
	dir := "supabase"
	if inv.workdir != "" {
		dir = inv.workdir + "/supabase"
	}
	if _, err := os.Stat(dir + "/config.toml"); err == nil {
		return os.DirFS(dir), dir
	}
	return inv.Project, ""
}

// dataDir is the data folder that this command line means.
func (inv *invocation) dataDir(c *config.Config) (string, error) {
	_, set := inv.Getenv("DAAWO_DATA")
	dir, why, err := app.DataDir(c.Data, inv.data != "" || set)
	if why != "" {
		inv.log(c).Info("data is kept in "+dir, "because", why)
	}
	return dir, err
}

// running finds the data folder for a command that talks to a running server.
func (inv *invocation) running() (string, error) {
	c, err := inv.config()
	if err != nil {
		return "", err
	}
	return inv.dataDir(c)
}

func (inv *invocation) log(c *config.Config) *slog.Logger {
	return observe.Logger(inv.Stderr, c.LogLevel, c.LogFormat)
}

func overview(w io.Writer) {
	fmt.Fprint(w, `Daawo serves the site and its Supabase-compatible backend from one program.

  daawo start                          serve on http://127.0.0.1:54321; Ctrl-C stops
  eval "$(daawo status -o env)"        addresses and keys for scripts, while it runs

Usage: daawo COMMAND [FLAGS]

Commands:
`)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(t, "  %s\t%s\n", c.name, c.short)
	}
	_ = t.Flush() // nothing to do about a closed terminal
	fmt.Fprint(w, `
daawo COMMAND --help explains a command. Settings that are not flags are variables and supabase/config.toml:
docs/configuration.md lists them. A command exits with 0 when done, 1 when it failed, 2 when it was called wrongly.
`)
}

func (inv *invocation) help() {
	w := inv.Stdout
	fmt.Fprintf(w, "%s\n\nUsage: daawo %s %s\n", inv.command.short, inv.command.name, inv.command.args)
	if inv.command.long != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(inv.command.long))
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
	_ = t.Flush() // nothing to do about a closed terminal
}
