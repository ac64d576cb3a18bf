package meta

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/typegen"
)

// generator replies with types of the database for a programming language.
func (e *Engine) generator(language string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		names := func(parameter string) (list []string) {
			for name := range strings.SplitSeq(q.Get(parameter), ",") {
				if name = strings.TrimSpace(name); name != "" {
					list = append(list, name)
				}
			}
			return list
		}
		at, err := e.place(r)
		if err != nil {
			e.failWith(w, r, err, http.StatusInternalServerError)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), e.QueryTimeout)
		defer cancel()
		var m *typegen.Metadata
		if err := at.catalog(ctx, func(s *pool.Session) error {
			m, err = typegen.ReadMetadata(ctx, s, names(included), names(excluded))
			return err
		}); err != nil {
			e.failWith(w, r, err, http.StatusInternalServerError)
			return
		}
		switch language {
		case "typescript":
			replyText(w, m.TypeScript(typegen.TypeScriptOptions{
				OneToOne:         q.Get("detect_one_to_one_relationships") == "true",
				PostgRESTVersion: q.Get("postgrest_version")}))
		case "go":
			replyText(w, m.Go())
		case "python":
			replyText(w, m.Python())
		case "swift":
			access := cmp.Or(q.Get("access_control"), "internal")
			replyText(w, m.Swift(access))
		}
	}
}
