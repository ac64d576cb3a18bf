package objects

import (
	"daawo/supabase/internal/db"
)

// Caller is on whose behalf storage.objects and storage.buckets are read and written, with all that a policy may ask for.
type Caller struct {
	Role    string // the token's role claim
	Subject string // the token's sub claim: the owner of what is uploaded
	Claims  string // the token's claims as JSON
	Token   string // the token
	Headers string // the request's headers as JSON, names in lower case
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

// pg gives the settings that storage-api makes in every transaction. Deletes are allowed because the bytes go with them.
func (c Caller) pg() db.Caller {
	return db.Caller{Role: c.Role, Claims: c.Claims, Settings: []db.Setting{
		{Name: "request.jwt.claim.role", Value: c.Role},
		{Name: "request.jwt.claim.sub", Value: c.Subject},
		{Name: "request.jwt", Value: c.Token},
		{Name: "request.headers", Value: c.Headers},
		{Name: "request.method", Value: c.Method},
		{Name: "request.path", Value: c.Path},
		{Name: "storage.operation", Value: c.Operation},
		{Name: "storage.allow_delete_query", Value: "true"},
	}}
}
