// Package installation holds what every part of a stack is built from: what the program and the
// operator have chosen, and the list of the parts that run.
package installation

import (
	"context"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/parts"
)

// Options describe a stack.
type Options struct {
	Config       *config.Config
	Data         string   // data folder, absolute
	AnyPort      bool     // use a free port if another program uses a configured one, except for the public port
	NamedPorts   []string // flags of ports that the command line names, such as db-port: AnyPort keeps them
	Dev          bool     // reload functions, log all requests
	Project      fs.FS    // config.toml, migrations, seed
	Site         fs.FS    // the built site; nil for none
	AdminSite    fs.FS    // the built application of the administrators; nil for none
	Postgres     func() (fs.FS, error)
	Added        *parts.Store // programs that are added to the project; nil for none
	Functions    map[string]edge.Func
	StudioAccess string // SQL expression: whether the caller may open Studio; "" for no account

	Operators []string // functions that may run operations of the stack, see edge.Env.Operate
	// folder of the module with the project's functions in Go, if they are not part of this program
	FunctionsDir string
	// the project is not this program's
	Foreign       bool
	CleanBuckets  []CleanBucket // buckets of images without metadata
	FormErrorPage []byte        // see gateway.Options
	// function that gives texts of the pages that change, see site.Options; "" for none
	PageTexts string
	// of auth, by language and kind, besides the built-in English ones
	MailTexts map[string]map[string]MailText
	// the line of a notice that says how to find its row if there is no Studio; nil for none
	RowLink func(edge.Row) string
	// the same with the administrators' application at that address; nil for none
	AdminLink func(address string, row edge.Row) string
	// runs after the migrations as role postgres; nil for nothing
	Prepare func(ctx context.Context, conn *pgx.Conn, public bool) error
	Getenv  func(string) (string, bool)
	Version string
	Log     *slog.Logger // nil means slog.Default()
	// of the embedded Postgres; nil means Log
	PostgresLog *slog.Logger
	Now         func() time.Time // nil means time.Now; decides what has expired
}

// CleanBucket is a bucket of images without metadata; see gateway.CleanBucket.
type CleanBucket struct {
	ID           string
	Refusal      map[string]string
	HideNames    bool
	RefuseCopies bool
}

// MailText is one of auth's mails in one language.
type MailText = template.Text

// MayMove reports whether another port may take the place of one that another program uses. The
// name is that of the port's flag.
func (o Options) MayMove(name string) bool { return o.AnyPort && !slices.Contains(o.NamedPorts, name) }

// MailServer returns the configured mail server.
func (o Options) MailServer() mail.Server {
	c := o.Config.SMTP
	return mail.Server{
		Host: c.Host, Port: int(c.Port), TLS: c.TLS, User: c.User, Password: c.Pass,
		From: c.AdminEmail, FromName: c.SenderName,
	}
}
