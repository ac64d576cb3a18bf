package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
		texts := map[string]string{}
		switch err = reply.from(s.functions, r); {
		case err != nil:
		case reply.status != http.StatusOK:
			err = fmt.Errorf("status %d", reply.status)
		default:
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

// from lets h reply to r. A handler that aborts its reply panics, and here no server would recover.
func (w *ownReply) from(h http.Handler, r *http.Request) (err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			err = errors.New("the reply was aborted")
		default:
			panic(p)
		}
	}()
	h.ServeHTTP(w, r)
	return nil
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
