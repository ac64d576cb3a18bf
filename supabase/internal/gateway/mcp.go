package gateway

import (
	"cmp"
	"crypto/subtle"
	"net/http"
)

// mcpPrivilege is the privilege of a call to the MCP server, which can change every row.
const mcpPrivilege = "mcp"

// mcp returns Studio's MCP server, nil without a key.
func (g *gateway) mcp() http.Handler {
	if g.MCP == nil || g.MCPKey == "" {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			writeError(w, http.StatusNotFound, "The MCP server has one address: /mcp")
			return
		}
		r.URL.Path, r.URL.RawPath = "/api/mcp", ""
		r.Header.Del("Authorization") // Studio would send it to its services
		r.Header.Del("Apikey")
		g.MCP.ServeHTTP(w, r)
	})
}

// mcpKey requires the key of the MCP server, as a bearer token or as apikey. Each call is a line of
// the log.
func (g *gateway) mcpKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := cmp.Or(bearer(r.Header.Get("Authorization")), r.Header.Get("apikey"))
		if subtle.ConstantTimeCompare([]byte(given), []byte(g.MCPKey)) != 1 {
			writeText(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		if re, ok := w.(*reply); ok {
			re.privilege = mcpPrivilege
		}
		next.ServeHTTP(w, r)
	})
}
