// Package cli is the command line. Each command has a file: it parses flags, calls one package and prints the result.
//
// Only stack imports it. A command returns an error to exit with 1 and a usage error to exit with 2.
package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"text/tabwriter"

	"daawo/functions/edge"
	"daawo/supabase/internal/app"
	"daawo/supabase/internal/config"
	"daawo/supabase/internal/observe"
)

// Env is the environment of a command: the process, and what the program adds to the stack.
type Env struct {
	Name   string   // of the program, for messages; "" means daawo
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) (string, bool)

	Project       fs.FS                 // the project inside the program: config.toml, migrations, seed
	Site          fs.FS                 // the built site; nil for none
	Postgres      func() (fs.FS, error) // the Postgres inside the program or beside it
	Functions     map[string]edge.Func  // by name in the URL
	Commands      []Command             // of the program, besides those of the stack
	Settings      config.Program        // variables of the program and its defaults of the stack's
	FormErrorPage []byte                // see gateway.Options
	RowLink       func(edge.Row) string // see app.Options
	Version       string
}

// Command is a command of the program.
type Command struct {
	Name  string // the word after the program's name
	Args  string // as the usage line shows them
	Short string // one line for the list of commands
	Long  string // further help: verbs and examples
	Run   func(context.Context, *Invocation) error
}

// commands returns all commands in the order in which a newcomer needs them.
func (env *Env) commands() []Command {
	first := []Command{startCommand, statusCommand, stopCommand}
	return append(append(first, env.Commands...),
		notifyCommand, functionsCommand,
		migrateCommand, genCommand, keysCommand, doctorCommand,
		serveCommand, restCommand, backupCommand, restoreCommand, exportCommand, importCommand,
		healthcheckCommand, versionCommand)
}

// Invocation is one run of a command.
type Invocation struct {
	*Env
	command Command
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
	context.AfterFunc(ctx, stop) // the second Ctrl-C ends the program at once
	env.Name = cmp.Or(env.Name, defaultName)
	err := run(ctx, &env)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(env.Stderr, "%s: %s\n", env.Name, env.named(err.Error()))
		return 2
	}
	fmt.Fprintf(env.Stderr, "%s: %s\n", env.Name, env.named(err.Error()))
	return 1
}

// defaultName is the program's name in all texts of the stack.
const defaultName = "daawo"

var commandOf = regexp.MustCompile("(^|[ `'(])" + defaultName + " ")

// named replaces the program's name in a text that quotes commands.
func (env *Env) named(text string) string {
	if env.Name == defaultName {
		return text
	}
	return commandOf.ReplaceAllString(text, "${1}"+env.Name+" ")
}

func run(ctx context.Context, env *Env) error {
	if len(env.Args) == 0 || env.Args[0] == "help" && len(env.Args) == 1 || isHelp(env.Args[0]) {
		env.overview()
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
	for _, c := range env.commands() {
		if c.Name == name {
			inv := &Invocation{Env: env, command: c, args: args}
			inv.flags = flag.NewFlagSet(c.Name, flag.ContinueOnError)
			inv.flags.SetOutput(io.Discard)
			inv.flags.StringVar(&inv.workdir, "workdir", "", "`folder` that holds supabase/; by default the working folder, or the project inside the program")
			return c.Run(ctx, inv)
		}
	}
	return usagef("%q is not a command; see `daawo --help`", name)
}

func isHelp(s string) bool { return s == "--help" || s == "-h" || s == "-help" }

// parse reads the flags that the command has declared. The number of further arguments must be from least to most.
func (inv *Invocation) parse(least, most int) error {
	err := inv.flags.Parse(inv.args)
	if errors.Is(err, flag.ErrHelp) {
		inv.help()
		return err
	}
	if err != nil {
		return usagef("%v; `daawo %s --help` explains", err, inv.command.Name)
	}
	inv.args = inv.flags.Args()
	if n := len(inv.args); n < least || n > most {
		return usagef("usage: daawo %s %s", inv.command.Name, inv.command.Args)
	}
	return nil
}

// dataFlag declares --data.
func (inv *Invocation) dataFlag() {
	inv.flags.StringVar(&inv.data, "data", "", "data `folder` (DAAWO_DATA; .daawo)")
}

// config loads the configuration that the command line selects.
func (inv *Invocation) config() (*config.Config, error) {
	s := config.Sources{Name: "config.toml", Getenv: inv.Getenv, Overrides: inv.overrides, Program: inv.Settings}
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

// project returns the folder supabase/ of the working directory, or the project inside the program.
func (inv *Invocation) project() (fs.FS, string) {
	dir := "supabase"
	if inv.workdir != "" {
		dir = inv.workdir + "/supabase"
	}
	if _, err := os.Stat(dir + "/config.toml"); err == nil {
		return os.DirFS(dir), dir
	}
	return inv.Project, ""
}

// dataDir returns the data folder that the command line selects.
func (inv *Invocation) dataDir(c *config.Config) (string, error) {
	_, set := inv.Getenv("DAAWO_DATA")
	dir, why, err := app.DataDir(c.Data, inv.data != "" || set)
	if why != "" {
		inv.log(c).Info("data folder", "path", dir, "reason", why)
	}
	return dir, err
}

// running returns the data folder, for a command that talks to a running server.
func (inv *Invocation) running() (string, error) {
	c, err := inv.config()
	if err != nil {
		return "", err
	}
	return inv.dataDir(c)
}

func (inv *Invocation) log(c *config.Config) *slog.Logger {
	return observe.Logger(inv.Stderr, c.LogLevel, c.LogFormat)
}

func (env *Env) overview() {
	w := env.Stdout
	fmt.Fprintf(w, `%[1]s runs a Supabase-compatible backend with a real Postgres in one program.

  %[1]s start                          serve on http://127.0.0.1:54321; Ctrl-C stops
  eval "$(%[1]s status -o env)"        addresses and keys for scripts, while it runs

Usage: %[1]s COMMAND [FLAGS]

Commands:
`, env.Name)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, c := range env.commands() {
		fmt.Fprintf(t, "  %s\t%s\n", c.Name, c.Short)
	}
	_ = t.Flush() // a closed terminal cannot be told
	fmt.Fprintf(w, `
%s COMMAND --help explains a command. Settings without a flag are environment variables and keys of
supabase/config.toml: see docs/configuration.md. Exit codes: 0 success, 1 failure, 2 wrong usage.
`, env.Name)
}

func (inv *Invocation) help() {
	w := inv.Stdout
	fmt.Fprintf(w, "%s\n\nUsage: %s %s %s\n", inv.command.Short, inv.Name, inv.command.Name, inv.command.Args)
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
	_ = t.Flush() // a closed terminal cannot be told
}
