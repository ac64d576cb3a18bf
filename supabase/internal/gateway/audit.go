package gateway

import (
	"cmp"
	"net/http"
	"strings"
)

// s3Signature is the privilege of a request that is signed with S3 keys. Only storage can verify
// the signature.
const s3Signature = "s3"

// audit records in the reply which privilege a request uses, for the log. After the theft of a
// service_role key, which bypasses row level security, the log shows what its holder requested.
// audit runs after the key rule, so it sees the headers that the service gets.
func (g *gateway) audit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if re, ok := w.(*reply); ok {
			re.privilege = cmp.Or(g.privilegeOf(r), re.privilege)
		}
		next.ServeHTTP(w, r)
	})
}

// privilegeOf returns serviceRole, s3Signature, or "" for a request with the rights of a user or an
// anonymous client.
func (g *gateway) privilegeOf(r *http.Request) string {
	header := r.Header.Get("Authorization")
	if strings.HasPrefix(header, "AWS4-") || strings.Contains(r.URL.RawQuery, "X-Amz-Signature=") {
		return s3Signature
	}
	if g.Role == nil {
		return ""
	}
	previous := ""
	for _, token := range []string{r.Header.Get("Apikey"), bearer(header), r.Header.Get("Sb-Api-Key")} {
		if token != "" && token != previous && g.Role(token) == serviceRole {
			return serviceRole
		}
		previous = token // the first two are usually equal
	}
	return ""
}
