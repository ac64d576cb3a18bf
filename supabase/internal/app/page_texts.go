package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"daawo/supabase/internal/gateway/site"
)

// pageTexts returns a function that asks the project's function for the texts of pages, or nil if
// there is none.
func pageTexts(s *services) site.Texts {
	if s.PageTexts == "" || s.functions == nil {
		return nil
	}
	return func(ctx context.Context, keys []string) (map[string]string, error) {
		query := url.Values{"key": keys}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/"+s.PageTexts+"?"+query.Encode(), nil)
		if err != nil {
			return nil, err
		}
		reply := ownReply{header: http.Header{}}
		s.functions.ServeHTTP(&reply, r)
		texts := map[string]string{}
		if reply.status != http.StatusOK {
			err = fmt.Errorf("status %d", reply.status)
		} else {
			err = json.Unmarshal(reply.body.Bytes(), &texts)
		}
		if err != nil {
			s.Log.WarnContext(ctx, "reading the texts of pages failed", "function", s.PageTexts, "error", err)
		}
		return texts, err
	}
}

// ownReply keeps the reply to a request of this program.
type ownReply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *ownReply) Header() http.Header { return w.header }

func (w *ownReply) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *ownReply) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
