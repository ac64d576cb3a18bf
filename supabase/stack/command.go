package stack

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"daawo/supabase/internal/cli"
	"daawo/supabase/internal/database/pool"

	"github.com/jackc/pgx/v5"
)

// Command is a command of a program, such as `clinic patients list`.
type Command struct {
	Name  string // the word after the program's name
	Args  string // as the usage line shows them, such as "list|delete [ID] [FLAGS]"
	Short string // one line for the list of commands
	Long  string // further help: verbs and examples
	// Run runs the command. Its error is printed and makes the program exit with 1, or with 2 if
	// Usagef made it.
	Run func(ctx context.Context, call *Call) error
}

// Usagef returns an error for wrong usage of a command.
func Usagef(format string, args ...any) error { return cli.Usagef(format, args...) }

// Call is one run of a Command.
type Call struct{ inv *cli.Invocation }

// Flags is where a command declares its flags, before Parse.
func (c *Call) Flags() *flag.FlagSet { return c.inv.Flags() }

// Verb takes the first argument, such as list of `clinic patients list`. It is "" if the first
// argument is a flag or missing.
func (c *Call) Verb() string { return c.inv.Verb() }

// Parse declares the flag --data and reads the flags. n is the number of further arguments, which
// may precede the flags. With --help it prints the help of the command and returns flag.ErrHelp.
func (c *Call) Parse(n int) error { return c.inv.Parse(n) }

// Given reports, after Parse, whether a flag was on the command line.
func (c *Call) Given(flag string) bool { return c.inv.Given(flag) }

// Arguments returns, after Parse, the arguments besides the flags.
func (c *Call) Arguments() []string { return c.inv.Arguments() }

// Stdout is where the command writes its result.
func (c *Call) Stdout() io.Writer { return c.inv.Stdout }

// Stderr is where the command writes everything but its result.
func (c *Call) Stderr() io.Writer { return c.inv.Stderr }

// Confirm asks a question on the terminal and reports whether the answer is yes.
func (c *Call) Confirm(ctx context.Context, question string) bool {
	return c.inv.Confirm(ctx, question)
}

// CreatePrivate creates a file that only its owner can read. A file of that name is replaced.
func (c *Call) CreatePrivate(name string) (*os.File, error) { return cli.CreatePrivate(name) }

// Installation returns the installation that the command line selects, after Parse: the server that
// runs on the data folder, or the one that the variables DATABASE_URL, SUPABASE_URL, SITE_URL and
// SERVICE_ROLE_KEY name, as inside a container.
func (c *Call) Installation(ctx context.Context) (Installation, error) {
	at, err := c.inv.Installation(ctx)
	return Installation(at), err
}

// Installation says how to reach a running stack. Addresses have no path and no trailing slash.
type Installation struct {
	Database string // URL of the database
	API      string // address of the API for programs on this machine
	Public   string // address for browsers, for links
	Key      string // service_role key
	Admin    string // address of the administrators' application, "" if there is none
}

// Connect opens a connection to the database.
func (i Installation) Connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pool.Connect(ctx, i.Database)
	if err != nil {
		return nil, fmt.Errorf("the installation's database does not reply: %w", err)
	}
	return conn, nil
}
