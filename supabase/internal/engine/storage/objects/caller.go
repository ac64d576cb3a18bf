package objects

import (
	"encoding/json"
	"net/http"
	"strings"

	"daawo/supabase/internal/database/pool"
)

// Caller is the user that reads and writes storage.objects and storage.buckets, with the request
// data that policies can read.
type Caller struct {
	Role    string // the token's role claim
	Subject string // the token's sub claim: the owner of uploaded objects
	Claims  string // the token's claims as JSON
	Token   string
	Headers http.Header
	Method  string
	Path    string

	Operation string // storage.operation, such as storage.object.upload
}

const serviceClaims = `{"role":"service_role"}`

// Service returns the same request with the rights of service_role.
func (c Caller) Service() Caller {
	c.Role, c.Claims, c.Token, c.Subject = "service_role", serviceClaims, "", ""
	return c
}

// readSession returns the session settings of a statement that only reads. Only policies read
// settings beyond the role, and service_role bypasses them.
func (c Caller) readSession() pool.Caller {
	if c.Role == "service_role" {
		return pool.Caller{Role: c.Role}
	}
	return c.session()
}

// session returns the session settings that storage-api makes in every transaction. Deletes by
// query are allowed because this package also deletes the bytes.
func (c Caller) session(more ...pool.Setting) pool.Caller {
	return pool.Caller{Role: c.Role, Claims: c.Claims, Settings: append([]pool.Setting{
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

// headers returns the value of request.headers: JSON with lower-case names.
func (c Caller) headers() string {
	m := make(map[string]string, len(c.Headers))
	for name, values := range c.Headers {
		m[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	data, err := json.Marshal(m)
	if err != nil { // cannot happen: the map holds only strings
		return "{}"
	}
	return string(data)
}
