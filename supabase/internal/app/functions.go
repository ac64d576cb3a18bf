package app

import (
	"cmp"
	"context"
	"errors"
	"net"
	"strconv"

	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/functions/jobs"
)

// openMail configures the mail server: that of SMTP_HOST, or the development inbox if none is set
// on loopback.
func (s *services) openMail(_ context.Context) error {
	s.smtp = s.MailServer()
	if s.Config.SMTP.Host == "" && s.Config.Loopback() && s.Config.Inbox.Enabled {
		return s.openInbox()
	}
	if s.Config.SMTP.Host == "" {
		s.Log.Warn("no mail is sent: set SMTP_HOST, or local_smtp.enabled for the development inbox")
	}
	return nil
}

// localMailAddress is the sender and recipient of mails to the development inbox.
const localMailAddress = "daawo@localhost.localdomain"

// openInbox starts the development inbox: an SMTP server and a page that shows the mails.
func (s *services) openInbox() error {
	page, err := s.sockets.Listen(handover.InboxSocket, "127.0.0.1", s.Config.Inbox.Port, s.MayMove("inbox-port"))
	if err != nil {
		return err
	}
	s.OnClose("inbox page", func(context.Context) error { _ = page.Close(); return nil }) // the inbox closes it as well
	smtp, err := s.sockets.Listen(handover.SMTPSocket, "127.0.0.1", s.Config.Inbox.SMTPPort, true)
	if err != nil {
		return err
	}
	inbox := mail.NewInbox(s.Log.With("part", "inbox"))
	inbox.Serve(smtp, page)
	s.OnClose("inbox", inbox.Close)
	s.inbox = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(handover.Port(page)))
	s.smtp.Host, s.smtp.Port, s.smtp.Plain = "127.0.0.1", handover.Port(smtp), true
	if s.smtp.From == "" {
		s.smtp.From = cmp.Or(s.Config.Inbox.AdminEmail, localMailAddress)
	}
	s.smtp.FromName = cmp.Or(s.Config.Inbox.SenderName, s.smtp.FromName)
	return nil
}

// openOutbox prepares the queue of background jobs. openFunctions starts it.
func (s *services) openOutbox(ctx context.Context) error {
	if s.Config.FunctionsURL != "" {
		return nil // the process that hosts the functions runs the jobs
	}
	pool, err := s.pools.open(ctx, s.db.URL("postgres"), "outbox", outboxConns)
	if err != nil {
		return err
	}
	admins := []string{s.Config.AdminEmail}
	if s.Config.AdminEmail == "" {
		admins = []string{localMailAddress} // on loopback only, see config.CheckPublic
	}
	link, studio := s.rowLink()
	s.outbox, err = jobs.New(jobs.Options{
		DB: pool, Mail: s.smtp.Send, Admins: admins, WebhookURL: s.Config.WebhookURL,
		WebhookSecret: s.Config.WebhookSecret, SiteURL: s.Public, StudioURL: studio, RowLink: link,
		Log: s.Log.With("part", "outbox"), Meter: s.metrics, Traces: s.traces,
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
	if s.Config.FunctionsURL != "" {
		err := upstream(s.Installation, s.Config.FunctionsURL, &s.functions)
		s.functions = verified(s.Installation, s.keys, s.functions)
		return err
	}
	db, err := s.pools.open(ctx, s.db.URL("postgres"), "functions", functionsConns)
	if err != nil {
		return err
	}
	s.ready["database"] = db.Ping
	// The outbox asks the database as often, so both share a connection.
	if s.ready["schemas"], err = s.db.WatchSchemas(ctx, s.outbox.DB, s.pools.reset); err != nil {
		return err
	}
	f := &hosting{
		Installation: s.Installation, Addresses: s.Addresses, db: s.db, keys: s.keys, outbox: s.outbox,
		journal: s.journal, traces: s.traces, operations: s.operations(),
		wait: s.replaces,
	}
	s.functions, s.control, err = f.open(ctx, db, s.metrics)
	if f.ready != nil {
		s.ready["functions"] = f.ready
	}
	return err
}
