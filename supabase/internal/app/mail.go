package app

import (
	"strings"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/mail"
)

// mailServer returns the configured mail server.
func mailServer(c *config.Config) mail.Server {
	return mail.Server{
		Host: c.SMTP.Host, Port: int(c.SMTP.Port), TLS: c.SMTP.TLS, User: c.SMTP.User, Password: c.SMTP.Pass,
		From: c.SMTP.AdminEmail, FromName: c.SMTP.SenderName,
	}
}

// rowLink returns the function that writes a notice's line about its row, and the address of Studio
// if Studio shows the row instead. The administrators' application comes first, then Studio, then
// the program's command as this installation runs it (DAAWO_COMMAND): in the compose form the
// program runs in a container. Both results may be empty.
func (s *services) rowLink() (link func(edge.Row) string, studio string) {
	// Without DESK_URL the application of a public installation listens on loopback, where no
	// reader of a mail can open it.
	if to := s.options.AdminLink; to != nil && s.admin != "" && (s.cfg.AdminURL != "" || s.cfg.Loopback()) {
		return func(row edge.Row) string { return to(strings.TrimRight(s.admin, "/"), row) }, ""
	}
	line, command := s.options.RowLink, s.cfg.Command
	if line == nil || command == "daawo" {
		return line, s.cfg.StudioURL
	}
	return func(row edge.Row) string { return strings.ReplaceAll(line(row), "daawo ", command+" ") }, s.cfg.StudioURL
}
