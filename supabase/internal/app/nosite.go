package app

import (
	"fmt"
	"net/http"
)

// noSite serves the pages of a stack without a site: the addresses of the API at /, and 404 for every other path.
func noSite(address string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintln(w, "not found")
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		fmt.Fprintln(w, "This server has no website. Its API:")
		fmt.Fprintln(w)
		for _, path := range []string{"/rest/v1", "/auth/v1", "/storage/v1", "/realtime/v1", "/functions/v1"} {
			fmt.Fprintln(w, address+path)
		}
	})
}
