// Package cli is the command line of the stack. Each command has its own file. A command parses
// flags, calls one package and prints the result. It returns a usage error to exit with 2 and any
// other error to exit with 1.
package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/memory"
)

// Env is the environment of a command: the process, and what the program adds to the stack.
type Env struct {
	app.Options // of the program; appOptions adds those that the command line selects

	Name   string   // of the program, for messages; "" means daawo
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	// further lines of the announcement on loopback, by label; nil for none
	StartLinks func(context.Context, Installation) (map[string]string, error)
	// of the program, besides the stack's own
	Commands []Command
	// variables of the program and its defaults of the stack's
	Settings config.Program
	// tables besides auth.users that `import` empties only with --replace, such as public.notes
	UserTables []string
	Source     fs.FS // of the packages that edge functions need, for `init --functions`

	list   []Command         // all commands
	onHelp func(*Invocation) // replaces the output of --help; nil prints it
}

// stackOnly returns the environment without what the program adds to the stack.
func (env *Env) stackOnly() *Env {
	return &Env{
		Options: app.Options{Project: env.Project, Postgres: env.Postgres, Getenv: env.Getenv, Version: env.Version},
		Name:    env.Name, Args: env.Args, Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr,
		Commands: env.Commands, Source: env.Source,
	}
}

// Command is a command of the program, or a verb of one.
type Command struct {
	Name  string    // the word after the program's name, or after the command's
	Args  string    // as the usage line shows them; "" means the verbs, if there are any
	Short string    // one line for the list of commands; "" hides a verb
	Long  string    // further help and examples
	Verbs []Command // such as diff of `daawo db diff`
	// Run runs the command. A verb without it is run by its command, and a command without it needs
	// a verb.
	Run func(context.Context, *Invocation) error
}

// commands returns all commands in the order of the help: those that a new user needs come first.
func (env *Env) commands() []Command {
	first := []Command{startCommand, statusCommand, stopCommand}
	return append(append(first, env.Commands...),
		initCommand, databaseCommand, migrationCommand, sqlCommand, genCommand, functionsCommand, seedCommand,
		storageCommand, testCommand, logsCommand, jobsCommand, notifyCommand, authCommand, migrateCommand, upgradeCommand,
		studioCommand, denoCommand, edgeRuntimeCommand, postgresCommand, extensionsCommand, keysCommand, doctorCommand,
		serveCommand, restCommand, backupCommand, restoreCommand, exportCommand, importCommand, healthcheckCommand,
		completionCommand, servicesCommand, versionCommand)
}

// usageError reports wrong usage of a command: exit code 2.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// Main runs the command line and returns the exit code: 0 after success, 1 after a failure, 2 after
// wrong usage.
func Main(ctx context.Context, env Env) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // so that a second Ctrl-C ends the program at once
	memory.AllowGarbage(memory.Garbage)
	env.Name = cmp.Or(env.Name, defaultName)
	if filepath.Base(os.Args[0]) == officialName {
		env.Name = officialName
	}
	err := run(ctx, &env)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintf(env.Stderr, "%s: %s\n", env.Name, env.named(err.Error()))
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}

// officialName is the name of the official CLI. A program that is started under it, through a
// symlink, behaves as the official CLI where scripts notice: see Invocation.official.
const officialName = "supabase"

// defaultName is the name of the program in all texts of this package and the packages below it.
const defaultName = "daawo"

var commandOf = regexp.MustCompile("(^|[ `'(])" + defaultName + " ")

// named replaces the default name by the name of the program in a text that quotes commands.
func (env *Env) named(text string) string {
	if env.Name == "" || env.Name == defaultName {
		return text
	}
	return commandOf.ReplaceAllString(text, "${1}"+env.Name+" ")
}
