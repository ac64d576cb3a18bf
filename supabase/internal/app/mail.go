package app

import (
	"strings"

	"daawo/supabase/edge"
)

// rowLink returns the function that writes a notice's line about its row, and the address of Studio
// if Studio shows the row instead. The administrators' application comes first, then Studio, then
// the program's command as this installation runs it (DAAWO_COMMAND): in the compose form the
// program runs in a container. Both results may be empty.
func (s *services) rowLink() (link func(edge.Row) string, studio string) {
	// Without DESK_URL the application of a public installation listens on loopback, where no
	// reader of a mail can open it.
	if to := s.AdminLink; to != nil && s.Admin != "" && (s.Config.AdminURL != "" || s.Config.Loopback()) {
		return func(row edge.Row) string { return to(strings.TrimRight(s.Admin, "/"), row) }, ""
	}
	line, command := s.RowLink, s.Config.Command
	if line == nil || command == "daawo" {
		return line, s.Config.StudioURL
	}
	return func(row edge.Row) string { return strings.ReplaceAll(line(row), "daawo ", command+" ") }, s.Config.StudioURL
}
