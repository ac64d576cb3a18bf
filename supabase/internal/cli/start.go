package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/base/config"
)

var startCommand = Command{
	Name:  "start",
	Args:  "[FLAGS]",
	Short: "Serve the site and its backend in the foreground",
	Long: `
Starts Postgres, applies pending migrations and serves everything on one port. Ctrl-C, SIGTERM or 'daawo stop' stop it
after the requests in flight; a second Ctrl-C stops it at once. All data is in the data folder. Only one server can use a
data folder at a time. A folder supabase/ in the working folder is the project; without one it is the project inside the
program.

  daawo start                                    for this machine: local keys of the official CLI, mail goes to an inbox
  daawo start --detach                           in the background, as the official CLI; 'daawo logs' prints its log
  daawo start --port 0 --data /tmp/try           on free ports, next to another server
  daawo start --workdir ../shop --site ../shop/dist    another project and its built site
  SITE_URL=https://example.org ADMIN_EMAIL=… SMTP_HOST=… SMTP_ADMIN_EMAIL=… daawo start --host 0.0.0.0`,
	Run: runStart,
}

func runStart(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	inv.startFlags()
	dev := inv.flags.Bool("dev", false, "development: reload functions, log all requests")
	detach := inv.flags.Bool("detach", inv.official(), "serve in the background; return when the server is ready")
	inv.excludeFlag()
	inv.ignore([]string{"ignore-health-check"})
	given := slices.Clone(inv.args)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if *detach {
		return inv.startDetached(ctx, append([]string{"start"}, given...))
	}
	if isTerminal(inv.Stderr) {
		inv.activity = newActivity(inv, inv.Stderr)
	}
	o, err := appOptions(inv, *dev)
	if err != nil {
		return err
	}
	a := app.New(o)
	if !inv.Given("detach") { // otherwise this process writes it
		if err := inv.removeServerLog(); err != nil {
			return err
		}
	}
	if inv.activity != nil {
		inv.activity.begin(startStep(a.Data))
		defer inv.activity.cancel()
	}
	return a.Run(ctx, func(info app.Info) {
		if inv.activity != nil {
			inv.activity.end()
		}
		if info.Upgrade {
			return // the first process has announced the same
		}
		inv.announce(info)
		inv.announceLinks(ctx, info)
	})
}

// startStep says what a start does first on a data folder.
func startStep(data string) string {
	if _, err := os.Stat(filepath.Join(data, "postgres")); errors.Is(err, fs.ErrNotExist) {
		return "creating the database in " + data
	}
	return "starting"
}

// announceLinks prints the program's own links on a stack with local keys. A failure is printed:
// the stack serves without them.
func (inv *Invocation) announceLinks(ctx context.Context, info app.Info) {
	if inv.StartLinks == nil || !info.Demo {
		return
	}
	links, err := inv.StartLinks(ctx, installationOf(info))
	if err != nil {
		inv.warn("%v", err)
	}
	for _, label := range slices.Sorted(maps.Keys(links)) {
		fmt.Fprintf(inv.Stdout, "%17s  %s\n\n", label, links[label])
	}
}

// app prepares the stack that the command line describes.
func (inv *Invocation) app(dev bool) (*app.App, error) {
	o, err := appOptions(inv, dev)
	if err != nil {
		return nil, err
	}
	return app.New(o), nil
}

// appOptions returns the options of the stack that the command line describes.
func appOptions(inv *Invocation, dev bool) (app.Options, error) {
	c, err := inv.config()
	if err != nil {
		return app.Options{}, err
	}
	data, err := dataDir(inv, c)
	if err != nil {
		return app.Options{}, err
	}
	project, err := inv.project()
	if err != nil {
		return app.Options{}, err
	}
	o := inv.Options
	if o.Added, err = addedParts(inv); err != nil {
		return app.Options{}, err
	}
	o.Config, o.Data, o.AnyPort, o.Dev = c, data, inv.Given("port") || c.FunctionsPort == 0, dev
	for _, name := range []string{"db-port", "inbox-port"} {
		if inv.Given(name) {
			o.NamedPorts = append(o.NamedPorts, name)
		}
	}
	o.Project, o.FunctionsDir, o.Foreign, o.Log = project.files, project.functions(), !project.own, inv.log(c)
	return o, nil
}

// deskOffset is the distance of the desk's default port from the default of --port, which it keeps
// with another --port.
const deskOffset = 2

// startFlags declares the flags that change the configuration.
func (inv *Invocation) startFlags() {
	inv.portFlag("port", "`port` of the site and the API; 0 uses free ports for everything",
		func(c *config.Config, n uint16) {
			c.API.Port = n
			if n == 0 {
				c.DB.Port, c.Inbox.Port, c.Inbox.SMTPPort, c.Studio.Port, c.AdminPort = 0, 0, 0, 0, 0
			} else if _, set := inv.Getenv("DESK_PORT"); !set && n <= math.MaxUint16-deskOffset {
				c.AdminPort = n + deskOffset
			}
		})
	inv.portFlag("db-port", "`port` of Postgres, on loopback only without --db-tls",
		func(c *config.Config, n uint16) { c.DB.Port = n })
	inv.portFlag("inbox-port", "`port` of the development inbox", func(c *config.Config, n uint16) { c.Inbox.Port = n })
	inv.textFlag("host", "`address` to listen on; 0.0.0.0 makes this a public installation",
		func(c *config.Config, s string) { c.Host = s })
	inv.textFlag("site", "`folder` of a static site or a single-page application to serve at /",
		func(c *config.Config, s string) { c.SiteDir = s })
	inv.flags.BoolFunc("db-tls", "serve TLS on the port of Postgres, on the address of --host", func(s string) error {
		on, err := strconv.ParseBool(s)
		inv.overrides = append(inv.overrides, func(c *config.Config) { c.DBTLS = on })
		return err
	})
	inv.textFlag("database-url", "superuser `URL` of a Postgres to use instead of the embedded one",
		func(c *config.Config, s string) { c.DatabaseURL = s })
}

func (inv *Invocation) portFlag(name, usage string, set func(*config.Config, uint16)) {
	inv.flags.Func(name, usage, func(s string) error {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil {
			return fmt.Errorf("%q is not a port; use a number from 0 to 65535", s)
		}
		inv.overrides = append(inv.overrides, func(c *config.Config) { set(c, uint16(n)) })
		return nil
	})
}

func (inv *Invocation) textFlag(name, usage string, set func(*config.Config, string)) {
	inv.flags.Func(name, usage, func(s string) error {
		inv.overrides = append(inv.overrides, func(c *config.Config) { set(c, s) })
		return nil
	})
}
