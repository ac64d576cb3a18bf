package endpoint

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"daawo/supabase/internal/base/apierror"
)

// Page reads page and per_page from a query.
func Page(q url.Values) (page, perPage uint64, err error) {
	page, perPage = 1, 50
	for _, p := range []struct {
		name string
		into *uint64
	}{{"page", &page}, {"per_page", &perPage}} {
		text := q.Get(p.name)
		if text == "" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return 0, 0, apierror.Errorf(http.StatusBadRequest, "validation_failed", "Bad Pagination Parameters: %v",
				err)
		}
		*p.into = n
	}
	return max(page, 1), max(perPage, 1), nil
}

// SetPages sets X-Total-Count and a relative Link (RFC 8288), which auth-js reads.
func SetPages(h http.Header, u *url.URL, page, perPage, total uint64) {
	pages := (total + perPage - 1) / perPage
	link := func(n uint64, rel string) string {
		q := u.Query()
		q.Set("page", strconv.FormatUint(n, 10))
		return fmt.Sprintf("<%s?%s>; rel=%q", u.Path, q.Encode(), rel)
	}
	var links []string
	if pages > page {
		links = append(links, link(page+1, "next"))
	}
	h.Set("Link", strings.Join(append(links, link(pages, "last")), ", "))
	h.Set("X-Total-Count", strconv.FormatUint(total, 10))
}
