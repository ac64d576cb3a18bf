package objects

import (
	"encoding/json"
	"net/http"
	"strings"

	"daawo/supabase/internal/db"
)

// Caller is on whose behalf storage.objects and storage.buckets are read and written, with all that a policy may ask for.
type Caller struct {
	Role    string // the token's role claim
	Subject string // the token's sub claim: the owner of what is uploaded
	Claims  string // the token's claims as JSON
	Token   string // the token
	Headers http.Header
	Method  string
	Path    string

	Operation string // storage.operation, such as storage.object.upload
}

const serviceClaims = `{"role":"service_role"}`

// Service gives the same request with the rights of service_role.
func (c Caller) Service() Caller {
	c.Role, c.Claims, c.Token, c.Subject = "service_role", serviceClaims, "", ""
	return c
}

// reader is the caller of a statement that only reads. Nothing but policies could ask for more than the role, and
// service_role has none.
func (c Caller) reader() db.Caller {
	if c.Role == "service_role" {
		return db.Caller{Role: c.Role}
	}
	return c.pg()
}

// pg gives the settings that storage-api makes in every transaction. Deletes are allowed because the bytes go with them.
func (c Caller) pg(more ...db.Setting) db.Caller {
	return db.Caller{Role: c.Role, Claims: c.Claims, Settings: append([]db.Setting{
		{Name: "request.jwt.claim.role", Value: c.Role},
		{Name: "request.jwt.claim.sub", Value: c.Subject},
		{Name: "request.jwt", Value: c.Token},
		{Name: "request.headers", Value: c.headers()},
		{Name: "request.method", Value: c.Method},
		{Name: "request.path", Value: c.Path},
		{Name: "storage.operation", Value: c.Operation},
		{Name: "storage.allow_delete_query", Value: "true"},
	}, more...)}
}

// headers is what policies see as request.headers: JSON with names in lower case.
func (c Caller) headers() string {
	m := make(map[string]string, len(c.Headers))
	for name, values := range c.Headers {
		m[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	data, err := json.Marshal(m)
	if err != nil { // strings only
		return "{}"
	}
	return string(data)
}
