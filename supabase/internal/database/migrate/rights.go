package migrate

import (
	"regexp"
	"strings"
)

// allTables matches CREATE PUBLICATION name FOR ALL TABLES [WITH (options)].
var allTables = regexp.MustCompile(`(?is)\bcreate\s+publication\s+("(?:[^"]|"")+"|[a-z_][a-z0-9_$]*)\s+for\s+all\s+tables(?:\s+with\s*\(([^)]*)\))?`)

var doBlock = regexp.MustCompile(`(?is)^do\s+(language\s+plpgsql\s+)?\$`)

// presentExtension matches CREATE EXTENSION, without IF NOT EXISTS, of an extension that a new
// database has.
var presentExtension = regexp.MustCompile(`(?i)^(create\s+extension\s+)("pg_net"|pg_net\b|"pg_graphql"|pg_graphql\b)`)

// cronSchema matches CREATE EXTENSION pg_cron with a schema.
var cronSchema = regexp.MustCompile(`(?i)\b(create\s+extension\s+(?:if\s+not\s+exists\s+)?(?:"pg_cron"|pg_cron\b)` +
	`(?:\s+with\s+version\s+\S+)?)(?:\s+with)?\s+schema\s+(?:"(?:[^"]|"")+"|[a-z_][a-z0-9_$]*)`)

// withRights returns the statement in a form that the role postgres may run. On Supabase an
// extension in C allows it to create publications for all tables, here the function
// daawo.publish_all_tables does, and puts pg_cron into pg_catalog whatever schema the statement
// names. A new database has pg_net and pg_graphql, as with the official CLI. A new project on
// supabase.com can lack them, so its migrations may create them without IF NOT EXISTS.
func withRights(stmt string) string {
	plain := StripComments(stmt)
	block := doBlock.MatchString(plain)
	if presentExtension.MatchString(plain) {
		return stmt[:len(stmt)-len(plain)] + presentExtension.ReplaceAllString(plain, "${1}if not exists ${2}")
	}
	if at := cronSchema.FindStringIndex(plain); at != nil && (at[0] == 0 || block) {
		return cronSchema.ReplaceAllString(stmt, "$1")
	}
	command := "select"
	switch at := allTables.FindStringIndex(plain); {
	case at == nil:
		return stmt
	case block:
		command = "perform"
	case at[0] != 0:
		return stmt // the words are part of a text
	}
	return allTables.ReplaceAllStringFunc(stmt, func(found string) string {
		m := allTables.FindStringSubmatch(found)
		return command + " daawo.publish_all_tables(" + literal(unquoted(m[1])) + ", " +
			literal(strings.TrimSpace(m[2])) + ")"
	})
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// unquoted returns the name that an identifier of SQL stands for.
func unquoted(identifier string) string {
	if strings.HasPrefix(identifier, `"`) {
		return strings.ReplaceAll(identifier[1:len(identifier)-1], `""`, `"`)
	}
	return strings.ToLower(identifier)
}
