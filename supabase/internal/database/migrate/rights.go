package migrate

import (
	"regexp"
	"strings"
)

// allTables matches CREATE PUBLICATION name FOR ALL TABLES [WITH (options)].
var allTables = regexp.MustCompile(`(?is)\bcreate\s+publication\s+("(?:[^"]|"")+"|[a-z_][a-z0-9_$]*)\s+for\s+all\s+tables(?:\s+with\s*\(([^)]*)\))?`)

var doBlock = regexp.MustCompile(`(?is)^do\s+(language\s+plpgsql\s+)?\$`)

// netExtension matches CREATE EXTENSION pg_net without IF NOT EXISTS.
var netExtension = regexp.MustCompile(`(?i)^(create\s+extension\s+)("pg_net"|pg_net\b)`)

// withRights returns the statement in a form that the role postgres may run. On Supabase an
// extension in C allows it to create publications for all tables; here the function
// daawo.publish_all_tables does. A new database has pg_net, as with the official CLI. A new project
// on supabase.com has not, so its migrations may create pg_net without IF NOT EXISTS.
func withRights(stmt string) string {
	plain := StripComments(stmt)
	if netExtension.MatchString(plain) {
		return netExtension.ReplaceAllString(plain, "${1}if not exists ${2}")
	}
	command := "select"
	switch at := allTables.FindStringIndex(plain); {
	case at == nil:
		return stmt
	case doBlock.MatchString(plain):
		command = "perform"
	case at[0] != 0:
		return stmt // the words are part of a text
	}
	return allTables.ReplaceAllStringFunc(stmt, func(found string) string {
		m := allTables.FindStringSubmatch(found)
		name := strings.ToLower(m[1])
		if strings.HasPrefix(m[1], `"`) {
			name = strings.ReplaceAll(m[1][1:len(m[1])-1], `""`, `"`)
		}
		return command + " daawo.publish_all_tables(" + literal(name) + ", " + literal(strings.TrimSpace(m[2])) + ")"
	})
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
