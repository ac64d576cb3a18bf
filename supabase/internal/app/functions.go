package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/base/photo"
	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/deploy"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/functions/jobs"
)

// openMail configures the mail server: that of SMTP_HOST, or the development inbox if none is set
// on loopback.
func (s *services) openMail(_ context.Context) error {
	s.smtp = mailServer(s.cfg)
	if s.cfg.SMTP.Host == "" && s.cfg.Loopback() && s.cfg.Inbox.Enabled {
		return s.openInbox()
	}
	if s.cfg.SMTP.Host == "" {
		s.log.Warn("no mail is sent: set SMTP_HOST, or local_smtp.enabled for the development inbox")
	}
	return nil
}

// localMailAddress is the sender and recipient of mails to the development inbox.
const localMailAddress = "daawo@localhost.localdomain"

// openInbox starts the development inbox: an SMTP server and a page that shows the mails.
func (s *services) openInbox() error {
	page, err := listen(s.App, inboxSocket, "127.0.0.1", s.cfg.Inbox.Port, s.options.AnyPort)
	if err != nil {
		return err
	}
	s.onClose("inbox page", func(context.Context) error { _ = page.Close(); return nil }) // the inbox closes it as well
	smtp, err := listen(s.App, smtpSocket, "127.0.0.1", s.cfg.Inbox.SMTPPort, true)
	if err != nil {
		return err
	}
	inbox := mail.NewInbox(s.log.With("part", "inbox"))
	inbox.Serve(smtp, page)
	s.onClose("inbox", inbox.Close)
	s.inbox = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(portOf(page)))
	s.smtp.Host, s.smtp.Port, s.smtp.Plain = "127.0.0.1", portOf(smtp), true
	if s.smtp.From == "" {
		s.smtp.From = cmp.Or(s.cfg.Inbox.AdminEmail, localMailAddress)
	}
	s.smtp.FromName = cmp.Or(s.cfg.Inbox.SenderName, s.smtp.FromName)
	return nil
}

// openOutbox prepares the queue of background jobs. openFunctions starts it.
func (s *services) openOutbox(ctx context.Context) error {
	if s.cfg.FunctionsURL != "" {
		return nil // the process that hosts the functions runs the jobs
	}
	pool, err := s.openPool(ctx, s.db.url("postgres"), "outbox", outboxConns)
	if err != nil {
		return err
	}
	admins := []string{s.cfg.AdminEmail}
	if s.cfg.AdminEmail == "" {
		admins = []string{localMailAddress} // on loopback only, see config.CheckPublic
	}
	link, studio := s.rowLink()
	s.outbox, err = jobs.New(jobs.Options{
		DB: pool, Mail: s.smtp.Send, Admins: admins, WebhookURL: s.cfg.WebhookURL, WebhookSecret: s.cfg.WebhookSecret,
		SiteURL: s.public, StudioURL: studio, RowLink: link,
		Log: s.log.With("part", "outbox"), Meter: s.metrics, Traces: s.traces,
	})
	return err
}

// testNotice sends a test message over each notification channel. It returns the error of each
// channel, "" for success.
func testNotice(ctx context.Context, box *jobs.Outbox) (map[string]string, error) {
	if box == nil {
		return nil, errors.New("this process sends no notifications; run the command where the functions are hosted")
	}
	results := map[string]string{}
	for channel, err := range box.TestNotice(ctx) {
		results[channel] = ""
		if err != nil {
			results[channel] = err.Error()
		}
	}
	return results, nil
}

// openFunctions hosts the edge functions and starts the background jobs.
func (s *services) openFunctions(ctx context.Context) error {
	if s.cfg.FunctionsURL != "" {
		return s.upstream(s.cfg.FunctionsURL, &s.functions)
	}
	pool, err := s.openPool(ctx, s.db.url("postgres"), "functions", functionsConns)
	if err != nil {
		return err
	}
	getenv, err := s.functionEnv()
	if err != nil {
		return err
	}
	meter := newFunctionMeter(s.metrics)
	h, err := host.New(host.Options{
		Functions: s.options.Functions, DB: pool, Outbox: s.outbox,
		Verify: func(token string) (json.RawMessage, error) {
			claims, err := s.keys.verifier.Verify(token)
			if err != nil {
				return nil, err
			}
			return claims.Raw, nil
		},
		Getenv: getenv, CleanImage: photo.Strip, Operations: s.operations(),
		Region: s.cfg.Region,
		Client: s.clientAddress,
		Log:    slog.New(s.journal).With("part", "functions"), Meter: meter, Drain: drainTimeout, Now: s.options.Now,
		Traces: s.traces,
	})
	if err != nil {
		return err
	}
	s.onClose("functions", h.Close)
	s.functions = h
	s.parent = host.NewParentServer(h)
	s.onClose("socket for functions processes", s.parent.Close)
	s.ready["database"] = pool.Ping
	if err := s.openSchemas(ctx, pool); err != nil {
		return err
	}
	s.outbox.Chores(jobs.Chore{Name: "sweep_functions", Cron: "7 * * * *", Do: h.Sweep})
	var background jobs.Functions = h
	dev, err := s.openProgram(ctx, h)
	if err != nil {
		return err
	}
	if dev != nil {
		s.functions, background = dev, dev
	}
	s.control = functionsControl{host: h, dev: dev, watching: s.options.Dev}
	if !s.options.Dev {
		base, built := deploy.Base(h), h.Describe().Functions
		if dev != nil {
			base = dev
			built, _ = dev.Functions()
		}
		if s.control.deployer, err = s.openDeployer(ctx, h, base, built); err != nil {
			return err
		}
		s.functions, background = s.control.deployer, s.control.deployer
	}
	s.functions = s.skipDeno(s.functions)
	if err := s.outbox.Start(ctx, background); err != nil {
		return err
	}
	s.onClose("outbox", s.outbox.Close)
	return nil
}

// openProgram serves functions from their source: those of a project that are not part of this
// program, or in development those of the working folder. It returns nil if host serves the
// functions.
func (s *services) openProgram(ctx context.Context, h *host.Host) (dev *child.Dev, err error) {
	root := s.options.FunctionsDir
	if root == "" && s.options.Dev && !s.options.Foreign {
		root = "."
	}
	if root == "" {
		return nil, nil
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "functions", "functions.go")); err != nil {
		s.log.Warn("functions are not reloaded: the working folder has no functions/functions.go", "folder", root)
		return nil, nil
	}
	o := child.DevOptions{
		Root: root, Host: h, Public: !s.cfg.Loopback(), Log: slog.New(s.journal).With("part", "functions"),
		Child: func() (host.ChildConfig, error) { return s.childConfig(envFile(root)) }, Changed: s.outbox.Reschedule,
	}
	if s.options.FunctionsDir != "" {
		s.log.Info("building functions", "folder", root)
		dev, err = child.NewProgram(ctx,
			child.ProgramOptions{DevOptions: o, Keep: filepath.Join(s.data, "functions-program"), Watch: s.options.Dev})
	} else {
		dev, err = child.NewDev(o)
	}
	if err != nil {
		return nil, err
	}
	s.keys.changed = append(s.keys.changed, func(keys.Set) { dev.Reconfigure() })
	s.onClose("functions process", dev.Close)
	return dev, nil
}

// childConfig returns the present configuration of a process of functions.
func (s *services) childConfig(envFile string) (host.ChildConfig, error) {
	verifying, err := json.Marshal(s.keys.trusted())
	if err != nil {
		return host.ChildConfig{}, err
	}
	parent, err := s.parent.Socket()
	return host.ChildConfig{
		Parent: parent, Database: s.db.url("postgres"), Keys: verifying, Env: s.stackEnv(), EnvFile: envFile,
		Region: s.cfg.Region, Webhook: s.cfg.WebhookURL != "", Spans: s.traces != nil, Limited: !s.cfg.Loopback() ||
			len(s.cfg.Proxies) > 0,
	}, err
}

// openDeployer serves the deployed functions, or base while none are deployed.
func (s *services) openDeployer(ctx context.Context, h *host.Host, base deploy.Base,
	built []host.FunctionInfo) (*deploy.Deployer, error) {
	d, err := deploy.New(ctx, deploy.Options{
		Dir: filepath.Join(s.data, "functions"), Host: h, Base: base, Built: built,
		Child:   func() (host.ChildConfig, error) { return s.childConfig("") },
		Waiting: s.outbox.WaitingFunctionJobs, Changed: s.outbox.Reschedule, Memory: int64(s.cfg.FunctionsMemory),
		Log: slog.New(s.journal).With("part", "functions"), Meter: h.Meter,
	})
	if err != nil {
		return nil, err
	}
	s.keys.changed = append(s.keys.changed, func(keys.Set) { d.Reconfigure() })
	s.onClose("deployed functions", d.Close)
	return d, nil
}

// envFile returns the path of the file of development secrets.
func envFile(root string) string { return filepath.Join(root, "functions", ".env") }

// clientAddress returns the address that the rate limits of functions count, as the gateway
// determined it. It returns "" for programs of this machine, such as tests and scripts: they have
// no limits, as at the gateway.
func (s *services) clientAddress(r *http.Request) string {
	if s.cfg.Loopback() && len(s.cfg.Proxies) == 0 {
		return ""
	}
	return r.Header.Get("X-Forwarded-For")
}

// functionEnv returns the environment of functions: the variables of the stack, those of
// functions/.env in development, and those of the process.
func (s *services) functionEnv() (func(string) string, error) {
	var file map[string]string
	if s.options.Dev {
		var err error
		if file, err = host.ReadEnvFile(envFile(".")); err != nil {
			return nil, err
		}
	}
	return func(name string) string {
		return host.Lookup(s.stackEnv(), file, s.options.Getenv)(name) // at each call, because keys can be rotated
	}, nil
}

// stackEnv returns the variables that the stack gives functions: addresses and keys under
// Supabase's names, and the secrets of config.toml.
func (s *services) stackEnv() map[string]string {
	set := s.keys.current()
	env := map[string]string{
		"SUPABASE_URL":              s.inside,
		"SUPABASE_ANON_KEY":         set.Anon,
		"SUPABASE_SERVICE_ROLE_KEY": set.ServiceRole,
		"SUPABASE_PUBLISHABLE_KEY":  set.Publishable,
		"SUPABASE_SECRET_KEY":       set.Secret,
		"SUPABASE_DB_URL":           s.db.url("postgres"),
		"SITE_URL":                  s.public,
		"DESK_URL":                  s.admin,
	}
	for name, secret := range s.cfg.EdgeRuntime.Secrets {
		env[name] = secret
	}
	return env
}
