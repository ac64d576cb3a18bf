package gotrue

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/auth/external/idp"
)

var goldenProviders = flag.Bool("golden", false, "replace the expected results of TestProviders")

const providersGolden = "testdata/providers.golden.json"

// variant changes what a provider says.
type variant struct {
	name     string
	email    string // "" for none
	verified bool
	broken   string // "token" or "document": what replies with an error
	optional bool   // users without an address may sign in
}

var variants = []variant{
	{name: "success", email: "Ayan@example.org", verified: true},
	{name: "no email", verified: true},
	{name: "no email, optional", verified: true, optional: true},
	{name: "unverified", email: "ayan@example.org"},
	{name: "code refused", email: "ayan@example.org", verified: true, broken: "token"},
	{name: "document refused", email: "ayan@example.org", verified: true, broken: "document"},
}

// scenes reads the documents of the providers. They have the form of each provider's public
// documentation.
func scenes(t *testing.T, v variant) map[string]scene {
	t.Helper()
	text, err := os.ReadFile("testdata/providers.json")
	if err != nil {
		t.Fatal(err)
	}
	number, when := "0", `""`
	if v.verified {
		number, when = "1", `"2012-05-23T09:05:22Z"`
	}
	for name, value := range map[string]string{
		"$email": strconv.Quote(v.email), "$verified": strconv.FormatBool(v.verified), "$number": number, "$time": when,
		"$verified_text": strconv.Quote(strconv.FormatBool(v.verified)),
	} {
		text = bytes.ReplaceAll(text, []byte(strconv.Quote(name)), []byte(value))
	}
	var out map[string]scene
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// signer is a server at which users sign in with providers.
type signer struct {
	t  *testing.T
	p  *process
	db *testdb.DB
	s  *standIn

	stop func()
}

func providerVariables(s *standIn, db *testdb.DB, optional bool) []string {
	out := []string{
		"DATABASE_URL=" + db.URL("supabase_auth_admin"), "GOTRUE_DB_DRIVER=postgres", "DB_NAMESPACE=auth",
		"API_EXTERNAL_URL=http://localhost:9999", "GOTRUE_SITE_URL=http://localhost:3000", secretVariable,
		"GOTRUE_JWT_AUD=authenticated", "GOTRUE_JWT_DEFAULT_GROUP_NAME=authenticated", "GOTRUE_LOG_LEVEL=error",
		"GOTRUE_API_HOST=127.0.0.1", "GOTRUE_SMTP_MAX_FREQUENCY=1ns", "GOTRUE_RATE_LIMIT_EMAIL_SENT=1000000",
		"HTTPS_PROXY=" + s.URL, "SSL_CERT_FILE=" + s.CA,
		"GOTRUE_EXTERNAL_KEYCLOAK_URL=https://id.example.org/realms/a",
		"GOTRUE_EXTERNAL_IOS_BUNDLE_ID=org.example.app",
		"GOTRUE_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS=https://other.example.org",
	}
	for _, name := range idp.Names() {
		prefix := "GOTRUE_EXTERNAL_" + strings.ToUpper(name)
		out = append(out, prefix+"_ENABLED=true", prefix+"_CLIENT_ID=client,second", prefix+"_SECRET=secret",
			prefix+"_REDIRECT_URI=http://localhost:9999/callback",
			prefix+"_EMAIL_OPTIONAL="+strconv.FormatBool(optional))
	}
	return out
}

func ourSigner(t *testing.T, s *standIn, optional bool) signer {
	t.Helper()
	db := testdb.New(t)
	p := serve(t, append(providerVariables(s, db, optional), "PORT=0")...)
	p.started()
	return signer{t, p, db, s, p.stop}
}

// theirSigner starts the program of GOTRUE.
func theirSigner(t *testing.T, s *standIn, optional bool) signer {
	t.Helper()
	db, port := testdb.New(t), freePort(t)
	cmd := exec.CommandContext(t.Context(), os.Getenv("GOTRUE"), "serve")
	cmd.Dir, cmd.Stderr = t.TempDir(), os.Stderr
	cmd.Env = append(providerVariables(s, db, optional), "PORT="+strconv.Itoa(port))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return signer{t, &process{t: t, address: awaitPort(t, port)}, db, s, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, so it reports that
	}}
}

// redirect requests a path and returns where it redirects to.
func (g signer) redirect(path string) *url.URL {
	g.t.Helper()
	status, header, body := g.p.send("GET", path, "")
	to, err := url.Parse(header.Get("Location"))
	if err != nil || status != 302 {
		g.t.Errorf("%s: %d %s", path, status, body)
		return &url.URL{}
	}
	return to
}

// result is what a sign-in came to, without ids and times.
type result struct {
	Redirect  string         `json:",omitempty"` // to the provider
	Documents []string       `json:",omitempty"` // that the server asked for
	Error     string         `json:",omitempty"`
	Tokens    string         `json:",omitempty"` // of the provider
	User      map[string]any `json:",omitempty"`
}

// browser signs in as a browser does.
func (g signer) browser(provider string, play scene, v variant) result {
	g.t.Helper()
	broken := map[string]string{"token": play.Token}[v.broken]
	if v.broken == "document" {
		for page := range play.Pages {
			broken = max(broken, page) // the last of them
		}
	}
	g.db.Exec("delete from auth.users")
	g.s.play(play, broken)
	at := g.redirect("/authorize?provider=" + provider + "&scopes=more&nonce=n&workos_provider=authkit")
	q := at.Query()
	state := q.Get("state")
	answer := url.Values{"code": {"the-code"}, "state": {state}}
	if q.Has("oauth_token") { // OAuth 1.0a, whose callback has the state
		state = testdb.Value[string](g.db, `select id::text from auth.flow_state order by created_at desc limit 1`)
		answer = url.Values{"oauth_token": {q.Get("oauth_token")}, "oauth_verifier": {"v"}, "state": {state}}
	}
	for _, name := range []string{"state", "code_challenge"} {
		if q.Has(name) {
			q.Set(name, name)
		}
	}
	at.RawQuery = q.Encode()
	out := result{Redirect: at.String()}
	back := g.redirect("/callback?" + answer.Encode())
	f, err := url.ParseQuery(back.Fragment)
	if err != nil {
		g.t.Fatal(err)
	}
	out.Documents = g.s.documents()
	if f.Get("access_token") == "" {
		out.Error = strings.Join([]string{f.Get("error"), f.Get("error_code"), f.Get("error_description")}, ": ")
		return out
	}
	out.Tokens = f.Get("provider_token") + " " + f.Get("provider_refresh_token")
	out.User = g.user(f.Get("access_token"))
	return out
}

// native signs in with an ID token, as native applications do.
func (g signer) native(provider string, play scene, change map[string]any, params map[string]string) result {
	g.t.Helper()
	claims := maps.Clone(play.Claims)
	maps.Copy(claims, change)
	g.db.Exec("delete from auth.users")
	g.s.play(play, "")
	body := map[string]string{"provider": provider, "id_token": g.s.idToken(g.t, claims)}
	maps.Copy(body, params)
	text, err := json.Marshal(body)
	if err != nil {
		g.t.Fatal(err)
	}
	status, _, reply := g.p.send("POST", "/token?grant_type=id_token", string(text), "Content-Type", "application/json")
	var doc map[string]any
	if err := json.Unmarshal([]byte(reply), &doc); err != nil {
		g.t.Fatalf("%s: %s", err, reply)
	}
	if status != 200 {
		delete(doc, "error_id")
		text, err := json.Marshal(doc)
		if err != nil {
			g.t.Fatal(err)
		}
		return result{Error: fmt.Sprintf("%d %s", status, text)}
	}
	return result{User: g.user(fmt.Sprint(doc["access_token"]))}
}

// user returns the user of a token, without ids; of times only that they are there.
func (g signer) user(token string) map[string]any {
	g.t.Helper()
	status, _, body := g.p.send("GET", "/user", "", "Authorization", "Bearer "+token)
	var u map[string]any
	if err := json.Unmarshal([]byte(body), &u); err != nil || status != 200 {
		g.t.Fatalf("%d %s", status, body)
	}
	identities, _ := u["identities"].([]any)
	for _, o := range append(identities, u) {
		o, _ := o.(map[string]any)
		for name := range o {
			switch {
			case name == "id" || name == "identity_id" || name == "user_id":
				delete(o, name)
			case strings.HasSuffix(name, "_at"):
				o[name] = "a time"
			}
		}
	}
	return u
}

// natives are the ID tokens that are tried: changed claims, more parameters.
var natives = map[string]struct {
	change map[string]any
	params map[string]string
}{
	"success":                {},
	"no email":               {change: map[string]any{"email": "", "user_email": ""}},
	"second client":          {change: map[string]any{"aud": "second"}},
	"bundle of iOS":          {change: map[string]any{"aud": "org.example.app"}},
	"unknown client":         {change: map[string]any{"aud": "other"}},
	"several clients":        {change: map[string]any{"aud": []string{"other", "client"}, "azp": "other"}},
	"no subject":             {change: map[string]any{"sub": ""}},
	"expired":                {change: map[string]any{"exp": 1}},
	"nonce":                  {map[string]any{"nonce": hashOfN}, map[string]string{"nonce": "n"}},
	"another nonce":          {map[string]any{"nonce": hashOfN}, map[string]string{"nonce": "x"}},
	"nonce of the token":     {change: map[string]any{"nonce": hashOfN}},
	"nonce of the request":   {params: map[string]string{"nonce": "n"}},
	"by issuer":              {params: map[string]string{"provider": "", "client_id": "client", "issuer": "$iss"}},
	"issuer of another name": {change: map[string]any{"iss": "https://evil.example.org"}},
	"access token":           {map[string]any{"at_hash": "zzz"}, map[string]string{"access_token": "access-1"}},
}

// hashOfN is the SHA-256 of the nonce "n".
const hashOfN = "1b16b1df538ba12dc3f97edbb85caa7050d46c148134290feba80f8236c83db9"

// signInsWithProviders returns the results of all sign-ins by name.
func signInsWithProviders(t *testing.T, s *standIn, start func(*testing.T, *standIn, bool) signer) map[string]result {
	t.Helper()
	out := map[string]result{}
	servers := map[bool]signer{false: start(t, s, false), true: start(t, s, true)}
	defer servers[false].stop()
	defer servers[true].stop()
	for _, v := range variants {
		for name, play := range scenes(t, v) {
			if v.broken == "document" && play.Pages == nil {
				continue
			}
			out[name+"/"+v.name] = servers[v.optional].browser(name, play, v)
		}
	}
	all := scenes(t, variants[0])
	for name, play := range all {
		if play.Claims == nil {
			continue
		}
		for kind, n := range natives {
			params := maps.Clone(n.params)
			if params["issuer"] != "" {
				params["issuer"] = fmt.Sprint(play.Claims["iss"])
			}
			out[name+"/ID token/"+kind] = servers[false].native(name, play, n.change, params)
		}
	}
	other := scene{Claims: map[string]any{"iss": "https://other.example.org", "sub": "1", "email": "o@example.org",
		"email_verified": true}}
	issuer := func(name, client string) map[string]string {
		return map[string]string{"provider": "", "issuer": name, "client_id": client}
	}
	g := servers[false]
	out["allowed issuer"] = g.native("", other, nil, issuer("https://other.example.org", "client"))
	out["allowed issuer/unknown client"] = g.native("", other, nil, issuer("https://other.example.org", "else"))
	out["unknown issuer"] = g.native("", other, nil, issuer("https://evil.example.org", "client"))
	out["provider without ID tokens"] = g.native("zoom", other, nil, nil)
	return out
}

// TestProviders signs in with every provider against a stand-in and compares the redirect, the
// requests for documents, the user and the errors with the expected ones. With GOTRUE it does the
// same with the real GoTrue, and reports the differences that are not in the list.
func TestProviders(t *testing.T) {
	s := newStandIn(t)
	ours := signInsWithProviders(t, s, ourSigner)
	if len(idp.Names()) != len(scenes(t, variants[0])) {
		t.Error("a provider has no scene")
	}
	short := map[string]result{}
	for name, r := range ours {
		short[name] = r.short()
	}
	if *goldenProviders {
		writeGolden(t, short)
	}
	text, err := os.ReadFile(providersGolden)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]result
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	compareSignIns(t, short, want, "expected", nil)
	if os.Getenv("GOTRUE") == "" {
		return
	}
	compareSignIns(t, ours, signInsWithProviders(t, s, theirSigner), "GoTrue", knownProviderDifferences)
}

// short returns the result without what other tests check: of the user, the address and the
// identity stay.
func (r result) short() result {
	identities, _ := r.User["identities"].([]any)
	if len(identities) == 1 {
		r.User = map[string]any{"email": r.User["email"], "email_confirmed_at": r.User["email_confirmed_at"],
			"identity_data": identities[0].(map[string]any)["identity_data"]}
	}
	return r
}

// writeGolden writes one line for each result.
func writeGolden(t *testing.T, results map[string]result) {
	t.Helper()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(results)) {
		text, err := json.Marshal(results[name])
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%q: %s", name, text))
	}
	if err := os.WriteFile(providersGolden, []byte("{\n"+strings.Join(lines, ",\n")+"\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// compareSignIns reports the members of the results that differ and are not known to.
func compareSignIns(t *testing.T, ours, theirs map[string]result, label string, known map[string]string) {
	t.Helper()
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		a, b := flat(t, ours[name]), flat(t, theirs[name])
		for _, path := range slices.Sorted(maps.Keys(merged(a, b))) {
			if a[path] == b[path] {
				continue
			}
			if at := matching(known, name+" "+path); at != "" {
				seen[at] = true
				continue
			}
			t.Errorf("%s %s\nours: %s\n%s: %s", name, path, a[path], label, b[path])
		}
	}
	for pattern := range known {
		if !seen[pattern] {
			t.Errorf("listed difference that did not occur: %s", pattern)
		}
	}
}

// matching returns the pattern that matches the name of a member.
func matching(known map[string]string, name string) string {
	for pattern := range known {
		if regexp.MustCompile("^" + pattern + "$").MatchString(name) {
			return pattern
		}
	}
	return ""
}

func merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// flat returns the values of a result by their paths.
func flat(t *testing.T, r result) map[string]string {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	flatten("", doc, out)
	return out
}

func flatten(path string, v any, out map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			flatten(path+"."+name, member, out)
		}
	case []any:
		for i, member := range v {
			flatten(path+"."+strconv.Itoa(i), member, out)
		}
	default:
		out[path] = fmt.Sprint(v)
	}
}

// knownProviderDifferences are the differences to GoTrue, each with its reason.
var knownProviderDifferences = map[string]string{
	`apple/.* \.Redirect`:                           "further parameters of the request, such as nonce, reach Apple",
	`keycloak/.* \.Redirect`:                        "Keycloak shows the document only to tokens with the scope openid",
	`bitbucket/.* \.User\..*\.(picture|avatar_url)`: "GoTrue looks for the picture where Bitbucket has none",
	`twitter/(code|document) refused \.Error`:       "the words of every other provider",
	`(apple|vercel_marketplace)/.*no email.* \.User\..*(confirmed_at|email_verified)`: "an address that is missing " +
		"is not confirmed",
	`(allowed issuer|(keycloak|snapchat)/ID token/.*) \.User\..*\.(aud\.\d|iat|exp)`: "claims about the token, " +
		"which would be in each access token",
	`(allowed issuer|(keycloak|snapchat)/ID token/.*) \.User\..*\.(provider_id|full_name|avatar_url)`: "as with " +
		"other providers",
}
