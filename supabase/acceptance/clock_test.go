package acceptance

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/internal/app"
)

// jumping is the program on a clock that the test sets.
type jumping struct {
	t          *testing.T
	info       app.Info
	api        string
	ahead      atomic.Int64 // of the real time, in nanoseconds
	references []string     // of the reports, in the order in which they were sent
}

func startJumping(t *testing.T) *jumping {
	t.Helper()
	j := &jumping{t: t}
	j.info = start(t, newApp(t, dataFolder(t), nil, func(o *app.Options) { o.Now = j.now }))
	j.api = j.info.Get("API_URL")
	if status, body := j.admin("POST", "/auth/v1/admin/users",
		`{"email":"clock@example.org","password":"correct horse","email_confirm":true}`); status != 200 {
		t.Fatal(status, body)
	}
	if status, body := j.admin("POST", "/storage/v1/object/resources/clock.pdf", "%PDF-1.4", "Content-Type",
		"application/pdf"); status != 200 {
		t.Fatal(status, body)
	}
	return j
}

func (j *jumping) now() time.Time           { return time.Now().Add(time.Duration(j.ahead.Load())) }
func (j *jumping) setAhead(d time.Duration) { j.ahead.Store(int64(d)) }

// admin makes a request as service_role.
func (j *jumping) admin(method, path, body string, headers ...string) (int, string) {
	j.t.Helper()
	service := j.info.Get("SERVICE_ROLE_KEY")
	headers = append([]string{"apikey", service, "Authorization", "Bearer " + service, "Content-Type",
		"application/json"}, headers...)
	return call(j.t, method, j.api+path, body, headers...)
}

// field returns a field of a JSON object in a successful reply.
func (j *jumping) field(name string, status int, body string) string {
	j.t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(body), &fields); err != nil || status != 200 {
		j.t.Fatal(status, body, err)
	}
	value, _ := fields[name].(string)
	return value
}

func (j *jumping) report() {
	j.t.Helper()
	body := fmt.Sprintf(`{"product_name":"Clock %d","issue_description":"x"}`, len(j.references))
	status, reply := call(j.t, "POST", j.api+"/functions/v1/submit-report", body, "apikey", j.info.Get("ANON_KEY"),
		"Content-Type", "application/json")
	j.references = append(j.references, j.field("reference", status, reply))
}

func (j *jumping) signIn() (token string) {
	j.t.Helper()
	status, body := call(j.t, "POST", j.api+"/auth/v1/token?grant_type=password",
		`{"email":"clock@example.org","password":"correct horse"}`, "apikey", j.info.Get("ANON_KEY"), "Content-Type",
		"application/json")
	return j.field("access_token", status, body)
}

// signLink returns a link that is valid for a minute.
func (j *jumping) signLink() string {
	j.t.Helper()
	status, body := j.admin("POST", "/storage/v1/object/sign/resources/clock.pdf", `{"expiresIn":60}`)
	return j.api + "/storage/v1" + j.field("signedURL", status, body)
}

// shortToken returns a token that is valid for a minute.
func (j *jumping) shortToken(role string) string {
	claims := fmt.Sprintf(`{"role":%q,"aud":"authenticated","exp":%d}`, role, j.now().Add(time.Minute).Unix())
	return forged(`{"alg":"HS256","typ":"JWT"}`, claims, j.info.Get("JWT_SECRET"))
}

// get returns the status of a request with a token.
func (j *jumping) get(path, token string) int {
	j.t.Helper()
	status, _ := call(j.t, "GET", j.api+path, "", "apikey", j.info.Get("ANON_KEY"), "Authorization", "Bearer "+token)
	return status
}

// TestClockJumps runs the program on a clock that is set an hour and a year forwards and backwards.
// Tokens and links are valid for their time and at most 30 s longer, everything else keeps working,
// and reports keep the order of the database.
func TestClockJumps(t *testing.T) {
	j := startJumping(t)
	for _, jump := range []time.Duration{0, time.Hour, 365 * 24 * time.Hour, -time.Hour, -365 * 24 * time.Hour} {
		j.setAhead(jump)
		j.report()
		access, link, short, shortService := j.signIn(), j.signLink(), j.shortToken("authenticated"),
			j.shortToken("service_role")
		uses := map[string]struct {
			lifetime time.Duration
			try      func() int
		}{
			"session": {time.Hour, func() int { return j.get("/auth/v1/user", access) }},
			"token":   {time.Hour, func() int { return j.get("/rest/v1/resources?select=id", access) }},
			"short":   {time.Minute, func() int { return j.get("/rest/v1/resources?select=id", short) }},
			"link":    {time.Minute, func() int { status, _ := call(t, "GET", link, ""); return status }},
			"short file": {time.Minute,
				func() int { return j.get("/storage/v1/object/authenticated/resources/clock.pdf", shortService) }},
		}
		for name, use := range uses {
			if status := use.try(); status != 200 {
				t.Errorf("at %s: %s is rejected with %d while it is valid", jump, name, status)
			}
		}
		for name, use := range uses {
			for _, later := range []time.Duration{use.lifetime + 31*time.Second, use.lifetime + time.Hour,
				use.lifetime + 365*24*time.Hour} {
				j.setAhead(jump + later)
				if status := use.try(); status < 400 {
					t.Errorf("at %s: %s is accepted %s after it was made", jump, name, later)
				}
			}
			j.setAhead(jump)
		}
	}

	j.setAhead(0)
	status, body := j.admin("GET", "/rest/v1/reports?select=reference&order=created_at.asc", "")
	var rows []struct{ Reference string }
	if err := json.Unmarshal([]byte(body), &rows); status != 200 || err != nil {
		t.Fatal(status, body, err)
	}
	var order []string
	for _, r := range rows {
		order = append(order, r.Reference)
	}
	if got, want := strings.Join(order, " "), strings.Join(j.references, " "); got != want {
		t.Errorf("reports are ordered %s, they were sent in the order %s", got, want)
	}
}
