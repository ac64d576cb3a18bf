package app

import (
	"strings"

	"daawo/functions/edge"
	"daawo/supabase/internal/config"
	"daawo/supabase/internal/mail"
)

// mailServer returns the configured mail server.
func mailServer(c *config.Config) mail.Server {
	return mail.Server{
		Host: c.SMTP.Host, Port: int(c.SMTP.Port), TLS: c.SMTP.TLS, User: c.SMTP.User, Password: c.SMTP.Pass,
		From: c.SMTP.AdminEmail, FromName: c.SMTP.SenderName,
	}
}

// rowLink returns Options.RowLink with the program's commands as this installation runs them (DAAWO_COMMAND). In the compose
// form the program runs in a container. May return nil.
func (s *services) rowLink() func(edge.Row) string {
	link, command := s.options.RowLink, s.cfg.Command
	if link == nil || command == "daawo" {
		return link
	}
	return func(row edge.Row) string { return strings.ReplaceAll(link(row), "daawo ", command+" ") }
}
