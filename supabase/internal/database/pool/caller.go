package pool

import (
	"strconv"
	"strings"
)

// Setting is a run-time parameter (GUC) for the caller's transaction only.
type Setting struct{ Name, Value string }

// Caller is the role and the claims that a statement runs with. The zero Caller is the login role.
type Caller struct {
	Role     string    // database role to set; "" keeps the login role
	Claims   string    // JSON of the verified token, seen as request.jwt.claims; "" sets nothing
	Settings []Setting // further settings: request.headers, search_path, …
}

// Statement returns the statement that sets the caller's role and settings, for a Session. ok is
// false if there is nothing to set.
func (c Caller) Statement() (s Statement, ok bool) {
	sql, args := c.setup()
	s = Statement{SQL: sql, Args: make([][]byte, len(args))}
	for i, arg := range args {
		s.Args[i] = []byte(arg.(string)) // setup returns strings only
	}
	return s, sql != ""
}

// setup returns the statement that sets the caller's role and settings in a new transaction: one
// select of set_config calls, all local to the transaction, with names and values as parameters.
// Its text depends only on the number of settings, so it stays prepared.
func (c Caller) setup() (string, []any) {
	var pairs []string
	if c.Claims != "" {
		pairs = append(pairs, "request.jwt.claims", c.Claims)
	}
	for _, s := range c.Settings {
		pairs = append(pairs, s.Name, s.Value)
	}
	// The role comes last, because only the login role may change some settings.
	if c.Role != "" {
		pairs = append(pairs, "role", c.Role)
	}
	if len(pairs) == 0 {
		return "", nil
	}
	var b strings.Builder
	args := make([]any, len(pairs))
	b.WriteString("select ")
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("set_config($" + strconv.Itoa(i+1) + ", $" + strconv.Itoa(i+2) + ", true)")
		args[i], args[i+1] = pairs[i], pairs[i+1]
	}
	return b.String(), args
}
