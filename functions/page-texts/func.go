// Package pagetexts gives the pages of the site the texts that change: the reviews of the guides.
// functions.All imports it, and resource-list, which shows the same reviews.
package pagetexts

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"daawo/supabase/edge"

	"github.com/jackc/pgx/v5"
)

// Func is called by the gateway, and by the script of a guide that was opened from another page.
var Func = edge.Func{
	Methods:     []string{http.MethodGet},
	NoVerifyJWT: true,
	Timeout:     10 * time.Second,
	MaxBody:     1 << 10,
	Handler:     handle,
}

// maxKeys is the number of keys of a call. The site has one per guide and language.
const maxKeys = 100

// place is a place of a guide's review on a page: guide-review/SLUG/LANGUAGE/DATE. The page has the
// text of that date, so an earlier review was of another text.
type place struct{ slug, language, written string }

func placeOf(key string) (place, bool) {
	parts := strings.Split(key, "/")
	if len(parts) != 4 || parts[0] != "guide-review" || words[parts[2]] == nil {
		return place{}, false
	}
	return place{parts[1], parts[2], parts[3]}, true
}

// handle replies with the texts of the keys that have one.
func handle(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	keys := r.URL.Query()["key"]
	if len(keys) > maxKeys {
		return edge.Errorf(http.StatusBadRequest, "too_many_keys", "At most %d keys.", maxKeys)
	}
	reviews, err := load(r.Context(), env)
	if err != nil {
		return err
	}
	texts := map[string]string{}
	for _, key := range keys {
		at, ok := placeOf(key)
		review, reviewed := reviews[at.slug]
		if ok && reviewed && review.On.Format(time.DateOnly) >= at.written {
			texts[key] = review.Text(at.language)
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	return edge.WriteJSON(w, http.StatusOK, texts)
}

// load returns the reviews of the guides that visitors see, by slug.
func load(ctx context.Context, env *edge.Env) (map[string]Review, error) {
	reviews := map[string]Review{}
	err := env.Tx(ctx, edge.Caller{Role: "anon"}, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			select slug, reviewed_by, reviewed_role, reviewed_on, review_due from public.guides
			 where reviewed_on is not null`)
		if err != nil {
			return err
		}
		var slug string
		var each Review
		_, err = pgx.ForEachRow(rows, []any{&slug, &each.By, &each.Role, &each.On, &each.Due}, func() error {
			reviews[slug] = each
			return nil
		})
		return err
	})
	return reviews, err
}

// Review is the sign-off of a guide.
type Review struct {
	By, Role string
	On, Due  time.Time
}

// Text returns who reviewed the guide, when, and when the next review is.
func (r Review) Text(language string) string {
	return r.Done(language) + fmt.Sprintf(words[language].next, words[language].day(r.Due))
}

// Done returns who reviewed the guide, and when.
func (r Review) Done(language string) string {
	t := words[language]
	return fmt.Sprintf(t.reviewed, r.By, r.Role, t.day(r.On))
}

// texts are the words of a language; web/src/i18n has the same.
type texts struct {
	reviewed, next string
	months         []string // from January
}

var words = map[string]*texts{
	"en": {
		reviewed: "Reviewed by %s, %s, on %s.", next: " Next review: %s.",
		months: []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
			"November", "December"},
	},
	"so": {
		reviewed: "Waxaa dib u eegay %s, %s, %s.", next: " Dib u eegista xigta: %s.",
		months: []string{"Janaayo", "Febraayo", "Maarso", "Abriil", "Maayo", "Juun", "Luulyo", "Agosto", "Sebtembar",
			"Oktoobar", "Noofeembar", "Diseembar"},
	},
}

// day returns a date such as 21 November 2026.
func (t *texts) day(date time.Time) string {
	return fmt.Sprintf("%d %s %d", date.Day(), t.months[date.Month()-1], date.Year())
}
