package edge

import "encoding/json"

// Caller is who calls a function, or on whose behalf a transaction runs. Hosts fill it from verified tokens only.
type Caller struct {
	Role    string          // anon, authenticated, service_role, or a role of the project's own
	Subject string          // the user's id; "" unless a user calls
	Claims  json.RawMessage // every claim of the token; nil without one
	Token   string          // the token itself, to act as the caller towards the rest of the stack
}

// Service is the caller that row level security does not hold back. Use it for what the function itself answers for.
var Service = Caller{Role: "service_role"}

// IsUser says whether a signed-in user calls.
func (c Caller) IsUser() bool { return c.Role == "authenticated" && c.Subject != "" }

// IsService says whether the service key was used.
func (c Caller) IsService() bool { return c.Role == "service_role" }
