package gateway

import (
	"net/http"
	"strings"
)

// noticed tells the log of requests that act as service_role, which no row and no file is closed to: after such a key was
// stolen, that is how one learns where its holder was. It stands behind the rule about keys and looks at what the service is
// given.
func (g *gateway) noticed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if re, ok := w.(*reply); ok {
			re.as = g.powers(r)
		}
		next.ServeHTTP(w, r)
	})
}

// bySignature are the powers of a request that is signed with the keys of S3. Storage alone can check that.
const bySignature = "s3"

// powers says as what a request acts when that is more than a visitor or a person may: serviceRole or bySignature.
func (g *gateway) powers(r *http.Request) string {
	header := r.Header.Get("Authorization")
	if strings.HasPrefix(header, "AWS4-") || strings.Contains(r.URL.RawQuery, "X-Amz-Signature=") {
		return bySignature
	}
	if g.Role == nil {
		return ""
	}
	asked := ""
	for _, token := range []string{r.Header.Get("Apikey"), bearer(header), r.Header.Get("Sb-Api-Key")} {
		if token != "" && token != asked && g.Role(token) == serviceRole {
			return serviceRole
		}
		asked = token // the first two are mostly the same
	}
	return ""
}
