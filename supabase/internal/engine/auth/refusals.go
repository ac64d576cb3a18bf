package auth

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// refuseUnknown makes the router's replies to unknown paths and methods. As in GoTrue, a path that
// needs a user or an administrator refuses other callers first.
func (h *Handler) refuseUnknown(r router, sessions *session.Manager) {
	r.NotFound(h.guarded(sessions, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "404 page not found", http.StatusNotFound)
	}))
	r.MethodNotAllowed(h.guarded(sessions, func(w http.ResponseWriter, req *http.Request) {
		for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodPatch, http.MethodPost,
			http.MethodPut} {
			if r.Match(chi.NewRouteContext(), method, req.URL.Path) {
				w.Header().Add("Allow", method)
			}
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
	}))
}

// guarded calls refuse for callers that the path admits.
func (h *Handler) guarded(sessions *session.Manager, refuse http.HandlerFunc) http.HandlerFunc {
	user := h.handle(sessions.AsBearer(func(w http.ResponseWriter, r *http.Request, _ *session.Caller) error {
		refuse(w, r)
		return nil
	}))
	admin := h.handle(sessions.AsAdmin(func(w http.ResponseWriter, r *http.Request, _ *store.User) error {
		refuse(w, r)
		return nil
	}))
	return func(w http.ResponseWriter, r *http.Request) {
		switch section(r.URL.Path) {
		case "user", "factors", "reauthenticate":
			user(w, r)
		case "admin":
			admin(w, r)
		default:
			refuse(w, r)
		}
	}
}

// section returns the first segment of a path.
func section(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return name
}

// withoutSlash removes the slash at the end of a path where GoTrue ignores it.
func withoutSlash(r *http.Request) {
	switch section(r.URL.Path) {
	case "signup", "verify", "reauthenticate", "user", "factors", "admin":
		if trimmed := strings.TrimSuffix(r.URL.Path, "/"); trimmed != "" {
			r.URL.Path, r.URL.RawPath = trimmed, strings.TrimSuffix(r.URL.RawPath, "/")
		}
	}
}
