package migrate

import (
	"regexp"
	"strings"
)

// allTables matches CREATE PUBLICATION name FOR ALL TABLES [WITH (options)].
var allTables = regexp.MustCompile(`(?is)\bcreate\s+publication\s+(` + name + `)\s+for\s+all\s+tables` +
	`(?:\s+with\s*\(([^)]*)\))?`)

// schemaTables matches CREATE or ALTER PUBLICATION name … TABLES IN SCHEMA names WITH (options).
var schemaTables = regexp.MustCompile(`(?is)\b((?:create|alter)\s+publication\s+(` + name + `))\s+(for|add|set)\s+` +
	`tables\s+in\s+schema\s+(` + name + `(?:\s*,\s*` + name + `)*)(\s+with\s*\([^)]*\))?\s*(;|\z)`)

// movedExtension matches ALTER EXTENSION name SET SCHEMA name.
var movedExtension = regexp.MustCompile(`(?is)\balter\s+extension\s+(` + name + `)\s+set\s+schema\s+(` + name +
	`)\s*(;|\z)`)

// name matches an identifier of SQL.
const name = `(?:"(?:[^"]|"")+"|[a-z_][a-z0-9_$]*)`

var doBlock = regexp.MustCompile(`(?is)^do\s+(language\s+plpgsql\s+)?\$`)

// presentExtension matches CREATE EXTENSION, without IF NOT EXISTS, of an extension that a new
// database has.
var presentExtension = regexp.MustCompile(`(?i)^(create\s+extension\s+)("pg_net"|pg_net\b|"pg_graphql"|pg_graphql\b)`)

// cronSchema matches CREATE EXTENSION pg_cron with a schema.
var cronSchema = regexp.MustCompile(`(?i)\b(create\s+extension\s+(?:if\s+not\s+exists\s+)?(?:"pg_cron"|pg_cron\b)` +
	`(?:\s+with\s+version\s+\S+)?)(?:\s+with)?\s+schema\s+` + name)

// withRights returns the statement in a form that the role postgres may run. On Supabase an
// extension in C allows it to publish all tables or those of a schema, and to move an extension,
// here functions of the schema daawo do. It puts pg_cron into pg_catalog whatever schema the
// statement names. A new database has pg_net and pg_graphql, as with the official CLI. A new
// project on supabase.com can lack them, so its migrations may create them without IF NOT EXISTS.
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
	if block {
		command = "perform"
	}
	for _, r := range rewrites {
		if at := r.statement.FindStringIndex(plain); at != nil && (at[0] == 0 || block) { // otherwise part of a text
			stmt = r.statement.ReplaceAllStringFunc(stmt, func(found string) string {
				return r.allowed(command, r.statement.FindStringSubmatch(found))
			})
		}
	}
	return stmt
}

// rewrites are the statements that functions of the schema daawo run for the role postgres. allowed
// returns the call, by the command that calls a function and the parts of the statement.
var rewrites = []struct {
	statement *regexp.Regexp
	allowed   func(command string, parts []string) string
}{
	{allTables, func(command string, m []string) string {
		return command + " daawo.publish_all_tables(" + literal(unquoted(m[1])) + ", " +
			literal(strings.TrimSpace(m[2])) + ")"
	}},
	{schemaTables, publishSchemas},
	{movedExtension, func(command string, m []string) string {
		return command + " daawo.move_extension(" + literal(unquoted(m[1])) + ", " + literal(unquoted(m[2])) + ")" + m[3]
	}},
}

// publishSchemas returns the statements that publish the tables of schemas: the creation of the
// publication, if m is one, and the call of the function.
func publishSchemas(command string, m []string) string {
	statement, publication, verb, schemas, options, end := m[1], m[2], strings.ToLower(m[3]), m[4], m[5], m[6]
	before := ""
	if verb == "for" {
		before, verb = statement+options+"; ", "add"
	}
	var list []string
	for _, schema := range names.FindAllString(schemas, -1) {
		list = append(list, literal(unquoted(schema)))
	}
	return before + command + " daawo.publish_schemas(" + literal(unquoted(publication)) + ", '" + verb + "', array[" +
		strings.Join(list, ", ") + "])" + end
}

var names = regexp.MustCompile(`(?i)` + name)

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// unquoted returns the name that an identifier of SQL stands for.
func unquoted(identifier string) string {
	if strings.HasPrefix(identifier, `"`) {
		return strings.ReplaceAll(identifier[1:len(identifier)-1], `""`, `"`)
	}
	return strings.ToLower(identifier)
}
