package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestClockJumps runs the stack on a clock that is set an hour and a year ahead and back. Nothing is valid more than 30 s
// beyond its time, what is not limited in time goes on working, and reports keep the database's order.
func TestClockJumps(t *testing.T) {
	var ahead atomic.Int64
	a := newApp(t, dataFolder(t), nil)
	a.options.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	info := start(t, a)
	api, anon, service, secret := info.Get("API_URL"), info.Get("ANON_KEY"), info.Get("SERVICE_ROLE_KEY"), info.Get("JWT_SECRET")
	asAdmin := []string{"apikey", service, "Authorization", "Bearer " + service, "Content-Type", "application/json"}
	fields := func(body string) (out map[string]any) {
		if err := json.Unmarshal([]byte(body), &out); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		return out
	}
	if status, body := call(t, "POST", api+"/auth/v1/admin/users", `{"email":"clock@example.org","password":"correct horse","email_confirm":true}`, asAdmin...); status != 200 {
		t.Fatal(status, body)
	}
	if status, body := call(t, "POST", api+"/storage/v1/object/resources/clock.pdf", "%PDF-1.4", append(asAdmin[:4:4], "Content-Type", "application/pdf")...); status != 200 {
		t.Fatal(status, body)
	}
	signIn := func() (access string) {
		status, body := call(t, "POST", api+"/auth/v1/token?grant_type=password", `{"email":"clock@example.org","password":"correct horse"}`,
			"apikey", anon, "Content-Type", "application/json")
		if status != 200 {
			t.Fatal("signing in:", status, body)
		}
		access, _ = fields(body)["access_token"].(string)
		return access
	}
	sign := func(seconds int) string {
		status, body := call(t, "POST", api+"/storage/v1/object/sign/resources/clock.pdf", fmt.Sprintf(`{"expiresIn":%d}`, seconds), asAdmin...)
		if status != 200 {
			t.Fatal("signing a link:", status, body)
		}
		return api + "/storage/v1" + fields(body)["signedURL"].(string)
	}
	var references []string
	report := func() {
		status, body := call(t, "POST", api+"/functions/v1/submit-report",
			fmt.Sprintf(`{"product_name":"Clock %d","issue_description":"x"}`, len(references)), "apikey", anon, "Content-Type", "application/json")
		if status != 200 {
			t.Fatal("reporting:", status, body)
		}
		references = append(references, fields(body)["reference"].(string))
	}
	with := func(target, token string) int {
		status, _ := call(t, "GET", target, "", "apikey", anon, "Authorization", "Bearer "+token)
		return status
	}

	for _, jump := range []time.Duration{0, time.Hour, 365 * 24 * time.Hour, -time.Hour, -365 * 24 * time.Hour} {
		ahead.Store(int64(jump))
		what := jump.String()
		report()
		access, link := signIn(), sign(60)
		shortAs := func(role string) string {
			return forged(`{"alg":"HS256","typ":"JWT"}`, fmt.Sprintf(`{"role":%q,"aud":"authenticated","exp":%d}`, role, a.options.Now().Add(60*time.Second).Unix()), secret)
		}
		short, shortService := shortAs("authenticated"), shortAs("service_role") // who may see the file
		uses := map[string]func() int{
			"session":    func() int { return with(api+"/auth/v1/user", access) },
			"token":      func() int { return with(api+"/rest/v1/resources?select=id", access) },
			"short":      func() int { return with(api+"/rest/v1/resources?select=id", short) },
			"link":       func() int { status, _ := call(t, "GET", link, ""); return status },
			"short file": func() int { return with(api+"/storage/v1/object/authenticated/resources/clock.pdf", shortService) },
		}
		lives := map[string]time.Duration{"session": time.Hour, "token": time.Hour, "short": time.Minute, "link": time.Minute, "short file": time.Minute}
		for name, use := range uses {
			if status := use(); status != 200 {
				t.Errorf("at %s: %s is refused with %d while it is valid", what, name, status)
			}
		}
		for name, use := range uses {
			for _, later := range []time.Duration{lives[name] + 31*time.Second, lives[name] + time.Hour, lives[name] + 365*24*time.Hour} {
				ahead.Store(int64(jump + later))
				if status := use(); status < 400 {
					t.Errorf("at %s: %s is taken %s after it was made", what, name, later)
				}
			}
			ahead.Store(int64(jump))
		}
	}

	ahead.Store(0)
	status, body := call(t, "GET", api+"/rest/v1/reports?select=reference&order=created_at.asc", "", asAdmin...)
	var rows []struct{ Reference string }
	if err := json.Unmarshal([]byte(body), &rows); status != 200 || err != nil {
		t.Fatal(status, body, err)
	}
	var order []string
	for _, r := range rows {
		order = append(order, r.Reference)
	}
	if got, want := strings.Join(order, " "), strings.Join(references, " "); got != want {
		t.Errorf("reports are ordered %s, they came %s", got, want)
	}
}
