package edge

import "encoding/json"

// Caller is the caller of a function, or the role and claims under which a transaction runs. Hosts
// fill it from verified tokens only.
type Caller struct {
	Role    string          // anon, authenticated, service_role, or a custom role of the project
	Subject string          // the id of the user; "" for other callers
	Claims  json.RawMessage // all claims of the token; nil without a token
	Token   string          // the token itself, for requests to the stack as this caller
}

// Service is the role service_role, which bypasses row level security. Check the permissions of the
// caller yourself before you use it.
var Service = Caller{Role: "service_role"}

// IsUser reports whether the caller is a signed-in user.
func (c Caller) IsUser() bool { return c.Role == "authenticated" && c.Subject != "" }

// IsService reports whether the caller has the service_role key.
func (c Caller) IsService() bool { return c.Role == "service_role" }
