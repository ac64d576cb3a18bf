package gateway

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Key is what an API key resolves to.
type Key struct {
	Role  string // anon or service_role
	Token string // the JWT for the services; a legacy key resolves to itself
	// The key is that of deployed functions, which may not do what only the operator may.
	Functions bool
}

// KeySet holds the API keys of the installation. Rotation may change it at any time.
type KeySet interface {
	// Resolve looks up a key in constant time.
	Resolve(apikey string) (Key, bool)
}

const serviceRole = "service_role"

// bearer returns the token of an Authorization header, or "" for another scheme.
func bearer(header string) string {
	token, ok := strings.CutPrefix(header, "Bearer ")
	if !ok {
		return ""
	}
	return token
}

// opaque reports whether a key is an opaque API key, which only the gateway can resolve.
func opaque(key string) bool { return strings.HasPrefix(key, "sb_") }

// takeKey returns the key from the header, else the first known key from the query. It removes all
// known keys from the query, so that no service sees them there. Other apikey parameters are
// filters or arguments of REST and stay. Without any known key, the first apikey parameter was
// probably meant as one and is removed too.
func (g *gateway) takeKey(r *http.Request) string {
	key := r.Header.Get("apikey")
	if !strings.Contains(r.URL.RawQuery, "apikey=") {
		return key
	}
	var rest []string
	unknown := -1 // index in rest of the first apikey parameter that is not a known key
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if value, ok := strings.CutPrefix(part, "apikey="); ok {
			if v, err := url.QueryUnescape(value); err == nil && g.known(v) {
				key = cmp.Or(key, v)
				continue
			}
			if unknown < 0 {
				unknown = len(rest)
			}
		}
		rest = append(rest, part)
	}
	if key == "" && unknown >= 0 {
		rest = slices.Delete(rest, unknown, unknown+1)
	}
	r.URL.RawQuery = strings.Join(rest, "&")
	return key
}

func (g *gateway) known(key string) bool {
	_, ok := g.Keys.Resolve(key)
	return ok
}

// authorise puts the JWT of a key in the headers that services read. It keeps a user's token in
// Authorization. Clients also send the key itself there; it is replaced, because a retired key
// resolves to another token.
func authorise(r *http.Request, given string, key Key) {
	r.Header.Set("apikey", key.Token)
	if token := bearer(r.Header.Get("Authorization")); token != "" && token != given && !opaque(token) {
		return
	}
	r.Header.Set("Authorization", "Bearer "+key.Token)
}

// optionalKey passes every request and applies a known key.
func (g *gateway) optionalKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := g.takeKey(r)
		if key, ok := g.Keys.Resolve(given); ok {
			authorise(r, given, key)
		} else {
			dropOpaque(r)
		}
		next.ServeHTTP(w, r)
	})
}

// noKey passes every request unchanged: clients authenticate to the service itself.
func noKey(next http.Handler) http.Handler { return next }

// requireKey requires a key of any role.
func (g *gateway) requireKey(next http.Handler) http.Handler {
	return g.keyOr(next, func(w http.ResponseWriter) { writeText(w, http.StatusUnauthorized, "Unauthorized") })
}

// requireKeyOfAuth is requireKey for auth, whose clients read JSON from every error.
func (g *gateway) requireKeyOfAuth(next http.Handler) http.Handler {
	return g.keyOr(next, func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(invalidKey)) // the client may have disconnected
	})
}

const invalidKey = `{"message":"Invalid API key","hint":"Send the project's publishable or secret key as apikey."}`

// keyOr applies the key of a request, or calls refuse without a known one.
func (g *gateway) keyOr(next http.Handler, refuse func(http.ResponseWriter)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := g.takeKey(r)
		key, ok := g.Keys.Resolve(given)
		if !ok {
			refuse(w)
			return
		}
		authorise(r, given, key)
		next.ServeHTTP(w, r)
	})
}

// requireServiceKey requires a key of the role service_role.
func (g *gateway) requireServiceKey(next http.Handler) http.Handler {
	return g.keyThat(next, func(key Key) bool { return key.Role == serviceRole })
}

// requireOperatorKey is requireServiceKey without the key of deployed functions: statements of /pg
// run as postgres.
func (g *gateway) requireOperatorKey(next http.Handler) http.Handler {
	return g.keyThat(next, func(key Key) bool { return key.Role == serviceRole && !key.Functions })
}

// keyThat requires a key that may call next.
func (g *gateway) keyThat(next http.Handler, may func(Key) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := g.takeKey(r)
		key, ok := g.Keys.Resolve(given)
		switch {
		case !ok:
			writeText(w, http.StatusUnauthorized, "Unauthorized")
		case !may(key):
			writeText(w, http.StatusForbidden, "RBAC: access denied")
		default:
			authorise(r, given, key)
			next.ServeHTTP(w, r)
		}
	})
}

// storageKey passes every request, because storage has public URLs, signed URLs and S3 signatures.
// It only resolves keys that storage cannot read.
func (g *gateway) storageKey(next http.Handler) http.Handler {
	withKey := g.optionalKey(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") {
			next.ServeHTTP(w, r)
			return
		}
		withKey.ServeHTTP(w, r)
	})
}

// realtimeKey is requireKey for Realtime, which reads the key from the query of the socket's URL.
func (g *gateway) realtimeKey(next http.Handler) http.Handler {
	return g.requireKey(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("apikey")
		r.Header.Set("X-Api-Key", token)
		query := r.URL.Query()
		query.Set("apikey", token)
		r.URL.RawQuery = query.Encode()
		next.ServeHTTP(w, r)
	}))
}

// functionsKey leaves Authorization unchanged, because functions read it themselves. It puts the
// token of an opaque key in Sb-Api-Key, which a client cannot set.
func (g *gateway) functionsKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Sb-Api-Key")
		inHeader, inBearer := r.Header.Get("apikey"), bearer(r.Header.Get("Authorization"))
		if !opaque(inHeader) {
			inHeader = ""
		}
		if !opaque(inBearer) {
			inBearer = ""
		}
		given := cmp.Or(inHeader, inBearer)
		if given != "" {
			key, ok := g.Keys.Resolve(given)
			if !ok {
				writeError(w, http.StatusUnauthorized, "Invalid API key")
				return
			}
			if inBearer != "" && inBearer != given {
				writeError(w, http.StatusUnauthorized, "Conflicting API keys")
				return
			}
			r.Header.Set("Sb-Api-Key", key.Token)
		}
		next.ServeHTTP(w, r)
	})
}

// dropOpaque removes an Authorization header that services cannot read.
func dropOpaque(r *http.Request) {
	header := r.Header.Get("Authorization")
	if header == "" || opaque(bearer(header)) {
		r.Header.Del("Authorization")
	}
}
