package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Key is what an API key stands for.
type Key struct {
	Role  string // anon or service_role
	Token string // the JWT that services verify; for a legacy key the key itself
}

// KeySet knows the API keys of the installation. Its answers may change while it runs: keys are rotated.
type KeySet interface {
	// Resolve finds a key. It compares in constant time.
	Resolve(apikey string) (Key, bool)
}

const serviceRole = "service_role"

// bearer gives the token of an Authorization header, "" when it is of another kind.
func bearer(header string) string {
	token, ok := strings.CutPrefix(header, "Bearer ")
	if !ok {
		return ""
	}
	return token
}

// opaque says whether a key is of the new kind, which only the gateway understands.
func opaque(key string) bool { return strings.HasPrefix(key, "sb_") }

// takeKey reads the key from the header, else the first that is known from the query. Every known key leaves the query, for no
// service is to see one there; other parts of that name are filters or arguments of REST. Who sends no key that is known is
// refused or asks a service that is open: then the first part of that name was meant as a key, and goes, too.
func (g *gateway) takeKey(r *http.Request) string {
	key := r.Header.Get("apikey")
	if !strings.Contains(r.URL.RawQuery, "apikey=") {
		return key
	}
	var rest []string
	unknown := -1 // where in rest the first one is that is no key
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if value, ok := strings.CutPrefix(part, "apikey="); ok {
			if v, err := url.QueryUnescape(value); err == nil && g.known(v) {
				if key == "" {
					key = v
				}
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

// authorise puts the JWT that a key stands for where services look for it. A real token of the caller is kept: then
// the key only opened the door. Clients send the key itself as a token, too; one that was retired stands for another now.
func authorise(r *http.Request, given string, key Key) {
	r.Header.Set("apikey", key.Token)
	if token := bearer(r.Header.Get("Authorization")); token != "" && token != given && !opaque(token) {
		return
	}
	r.Header.Set("Authorization", "Bearer "+key.Token)
}

// open lets everybody in; a key that is known is still put to use.
func (g *gateway) open(next http.Handler) http.Handler {
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

// asSent leaves everything as the caller sent it: whoever asks proves themselves to the service, by its own means.
func asSent(next http.Handler) http.Handler { return next }

// withKey asks for a key of any role.
func (g *gateway) withKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := g.takeKey(r)
		key, ok := g.Keys.Resolve(given)
		if !ok {
			plain(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		authorise(r, given, key)
		next.ServeHTTP(w, r)
	})
}

// serviceKeyOnly asks for a key of the role service_role.
func (g *gateway) serviceKeyOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := g.takeKey(r)
		key, ok := g.Keys.Resolve(given)
		switch {
		case !ok:
			plain(w, http.StatusUnauthorized, "Unauthorized")
		case key.Role != serviceRole:
			plain(w, http.StatusForbidden, "RBAC: access denied")
		default:
			authorise(r, given, key)
			next.ServeHTTP(w, r)
		}
	})
}

// storageKey leaves the decision to storage, whose public and signed URLs need no key and whose S3 requests carry a
// signature. Only what storage cannot read is translated.
func (g *gateway) storageKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") {
			next.ServeHTTP(w, r)
			return
		}
		g.open(next).ServeHTTP(w, r)
	})
}

// realtimeKey is withKey for a service that reads the key from the query of its socket's URL.
func (g *gateway) realtimeKey(next http.Handler) http.Handler {
	return g.withKey(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("apikey")
		r.Header.Set("X-Api-Key", token)
		query := r.URL.Query()
		query.Set("apikey", token)
		r.URL.RawQuery = query.Encode()
		next.ServeHTTP(w, r)
	}))
}

// functionsKey leaves Authorization as the caller sent it: functions read it themselves. What an opaque key stands for
// goes into sb-api-key, which no caller can set.
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
		given := inHeader
		if given == "" {
			given = inBearer
		}
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

// dropOpaque removes an Authorization header that says nothing to the services.
func dropOpaque(r *http.Request) {
	header := r.Header.Get("Authorization")
	if header == "" || opaque(bearer(header)) {
		r.Header.Del("Authorization")
	}
}
