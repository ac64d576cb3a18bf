package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"daawo/supabase/internal/fnhost"
	"daawo/supabase/internal/keys"
	"daawo/supabase/internal/mail"
	"daawo/supabase/internal/outbox"
	"daawo/supabase/internal/photo"
)

// openMail sends through the mail server that is set, and otherwise to the development inbox.
func (a *App) openMail(_ context.Context, s *services, _ *database, _ places) error {
	smtp := a.cfg.SMTP
	s.smtp = mail.Server{
		Host: smtp.Host, Port: int(smtp.Port), User: smtp.User, Password: smtp.Pass, From: smtp.AdminEmail, FromName: smtp.SenderName,
		Plain: !strings.Contains(smtp.Host, "."), // a container's name: the mail stays in the private network
	}
	if smtp.Host == "" && a.cfg.Loopback() && a.cfg.Inbox.Enabled {
		if err := a.openInbox(s); err != nil {
			return err
		}
	}
	s.mail = s.smtp.Send
	return nil
}

// localSender is the sender of the mails that never leave this machine.
const localSender = "daawo@localhost.localdomain"

func (a *App) openInbox(s *services) error {
	page, err := listen("127.0.0.1", a.cfg.Inbox.Port, a.options.AnyPort)
	if err != nil {
		return err
	}
	a.onClose("inbox's page", func(context.Context) error { _ = page.Close(); return nil }) // the inbox closes it, too
	post, err := listen("127.0.0.1", a.cfg.Inbox.SMTPPort, true)
	if err != nil {
		return err
	}
	inbox := mail.NewInbox(a.log.With("part", "inbox"))
	inbox.Serve(post, page)
	a.onClose("inbox", inbox.Close)
	s.inbox = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(portOf(page)))
	s.smtp.Host, s.smtp.Port, s.smtp.Plain = "127.0.0.1", portOf(post), true
	if s.smtp.From == "" {
		s.smtp.From = localSender
	}
	return nil
}

// openOutbox prepares the durable background work. It begins when the functions are there.
func (a *App) openOutbox(ctx context.Context, s *services, d *database, at places) error {
	if a.cfg.FunctionsURL != "" {
		return nil // the process that hosts the functions works it off
	}
	pool, err := a.openPool(ctx, d, "postgres", "outbox", outboxConns)
	if err != nil {
		return err
	}
	admins := []string{a.cfg.AdminEmail}
	if a.cfg.AdminEmail == "" {
		admins = []string{localSender} // on loopback only, see config.CheckPublic
	}
	s.outbox, err = outbox.New(outbox.Options{
		DB: pool, Mail: s.mail, Admins: admins, WebhookURL: a.cfg.WebhookURL, WebhookSecret: a.cfg.WebhookSecret,
		SiteURL: at.public, StudioURL: a.cfg.StudioURL,
		Storage: outbox.Storage{URL: at.inside, Key: func() string { return s.keys.current().ServiceRole }}, Clean: cleanPhoto,
		Log: a.log.With("part", "outbox"), Meter: s.metrics,
	})
	if err != nil {
		return err
	}
	return s.outbox.Migrate(ctx)
}

// testNotice tries every notification channel and says by channel what went wrong, "" for nothing.
func testNotice(ctx context.Context, box *outbox.Outbox) (map[string]string, error) {
	if box == nil {
		return nil, errors.New("the notifications are sent by the process that hosts the functions; ask it there")
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

// cleanPhoto takes a photo's metadata out. removed is false for a file that cannot be read.
func cleanPhoto(content []byte) (clean []byte, mime string, removed bool) {
	clean, mime, flag, err := photo.Clean(bytes.NewReader(content), photo.Limits{})
	return clean, mime, err == nil && flag != photo.Untouched
}

// openFunctions hosts the edge functions and begins the background work.
func (a *App) openFunctions(ctx context.Context, s *services, d *database, at places) error {
	if a.cfg.FunctionsURL != "" {
		return a.upstream(a.cfg.FunctionsURL, &s.functions)
	}
	pool, err := a.openPool(ctx, d, "postgres", "functions", functionsConns)
	if err != nil {
		return err
	}
	getenv, err := a.functionEnv(s, d, at)
	if err != nil {
		return err
	}
	host, err := fnhost.New(fnhost.Options{
		Functions: a.options.Functions, DB: pool, Outbox: s.outbox,
		Verify: func(token string) (json.RawMessage, error) {
			claims, err := s.keys.verifier.Verify(token)
			if err != nil {
				return nil, err
			}
			return claims.Raw, nil
		},
		Getenv: getenv,
		Region: a.cfg.Region,
		Client: a.clientOf,
		Log:    slog.New(s.journal).With("part", "functions"), Meter: s.metrics, Drain: drainTimeout, Now: a.options.Now,
	})
	if err != nil {
		return err
	}
	a.onClose("functions", host.Close)
	s.functions = host
	s.ready["database"] = pool.Ping
	var background outbox.Functions = host
	if a.options.Dev {
		dev, err := a.openDev(s, d, at, host)
		if err != nil {
			return err
		}
		if dev != nil {
			s.functions, background = dev, dev
		}
	}
	if err := s.outbox.Start(ctx, background); err != nil {
		return err
	}
	a.onClose("outbox", s.outbox.Close)
	return nil
}

// openDev serves functions from their source, when the working folder has it: nil where it has not.
func (a *App) openDev(s *services, d *database, at places, host *fnhost.Host) (*fnhost.Dev, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "functions", "functions.go")); err != nil {
		a.log.Warn("functions are not reloaded: their source is not below the working folder", "folder", root)
		return nil, nil
	}
	dev, err := fnhost.NewDev(fnhost.DevOptions{
		Root: root, Host: host, Public: !a.cfg.Loopback(), Log: slog.New(s.journal).With("part", "functions"),
		Child: func() (fnhost.ChildConfig, error) {
			verifying, err := json.Marshal(s.keys.Verifying())
			return fnhost.ChildConfig{
				Database: d.url("postgres"), Keys: verifying, Env: a.ownEnv(s, d, at), EnvFile: envFile(root),
				Region: a.cfg.Region, WebhookURL: a.cfg.WebhookURL, Limited: !a.cfg.Loopback() || len(a.cfg.Proxies) > 0,
			}, err
		},
	})
	if err != nil {
		return nil, err
	}
	s.keys.changed = append(s.keys.changed, func(keys.Set) { dev.Reconfigure() })
	a.onClose("functions' reloading", dev.Close)
	return dev, nil
}

// envFile holds the secrets of development.
func envFile(root string) string { return filepath.Join(root, "functions", ".env") }

// clientOf is the address that a function's limits count: the gateway's word. This machine's own programs (tests,
// benchmarks, scripts) are not visitors and have no limits, as at the gateway.
func (a *App) clientOf(r *http.Request) string {
	if a.cfg.Loopback() && len(a.cfg.Proxies) == 0 {
		return ""
	}
	return r.Header.Get("X-Forwarded-For")
}

// functionEnv is what functions see of the environment: the stack's own variables, in development those of
// functions/.env, and the process's.
func (a *App) functionEnv(s *services, d *database, at places) (func(string) string, error) {
	var file map[string]string
	if a.options.Dev {
		var err error
		if file, err = fnhost.ReadEnvFile(envFile(".")); err != nil {
			return nil, err
		}
	}
	return func(name string) string {
		return fnhost.Lookup(a.ownEnv(s, d, at), file, a.options.Getenv)(name) // anew: keys can be rotated
	}, nil
}

// ownEnv is what the stack tells functions under Supabase's names, and the secrets of config.toml.
func (a *App) ownEnv(s *services, d *database, at places) map[string]string {
	set := s.keys.current()
	env := map[string]string{
		"SUPABASE_URL":              at.inside,
		"SUPABASE_ANON_KEY":         set.Anon,
		"SUPABASE_SERVICE_ROLE_KEY": set.ServiceRole,
		"SUPABASE_PUBLISHABLE_KEY":  set.Publishable,
		"SUPABASE_SECRET_KEY":       set.Secret,
		"SUPABASE_DB_URL":           d.url("postgres"),
		"SITE_URL":                  at.public,
	}
	for name, secret := range a.cfg.EdgeRuntime.Secrets {
		env[name] = secret
	}
	return env
}
