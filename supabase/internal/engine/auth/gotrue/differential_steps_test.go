package gotrue

import (
	"encoding/json"

	"daawo/supabase/internal/base/compare"
)

func (w walk) of(list ...string) string { return list[w.IntN(len(list))] }

// often reports true in n of 100 calls.
func (w walk) often(n int) bool { return w.IntN(100) < n }

func (w walk) email() string {
	if w.often(6) {
		return w.of("", "no-address", "A0@Example.org", "ü@example.org", "a@localhost", "a b@example.org", "a0@example.org ")
	}
	return w.of("a0", "a1", "a2", "a3") + "@example.org"
}

func (w walk) phone() string {
	if w.often(6) {
		return w.of("", "0611", "+252610000001", "phone", "2526100000011234567890")
	}
	return "25261000000" + w.of("1", "2", "3")
}

func (w walk) password() string {
	if w.often(8) {
		return w.of("", "short", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	}
	return w.of("password-0", "password-0", "password-1")
}

// holder names an account whose tokens were kept.
func (w walk) holder() string { return w.of("a0", "a1", "a2", "a3", "p", "anonymous") }

// user is an Authorization header of a user, sometimes a wrong one.
func (w walk) user() string {
	if w.often(8) {
		return w.of("", "Bearer x", "Basic x", "Bearer ${admin}", "Bearer ${expired}", "Bearer ${misnamed}")
	}
	return "Bearer ${access." + w.holder() + "}"
}

func (w walk) administrator() string {
	if w.often(5) {
		return w.user()
	}
	return "Bearer ${admin}"
}

// request returns a request with a JSON body; nil for none.
func (w walk) request(method, path, authorization string, body any) compare.Request {
	q := compare.Request{Method: method, Path: path, Header: map[string]string{}, Keep: map[string]string{}}
	if authorization != "" {
		q.Header["Authorization"] = authorization
	}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			panic(err) // a body of this file that is no JSON
		}
		q.Body = string(text)
		q.Header["Content-Type"] = "application/json"
	}
	if w.often(15) {
		q.Header["X-Supabase-Api-Version"] = w.of("2024-01-01", "2025-01-01", "2023-01-01", "x")
	}
	return q
}

// tokens keeps the tokens of a reply under a name.
func tokens(q compare.Request, name string) compare.Request {
	q.Keep["access."+name], q.Keep["before."+name] = "access_token", "refresh_token"
	q.Keep["refresh."+name], q.Keep["id."+name] = "refresh_token", "user.id"
	q.Keep["identity."+name] = "user.identities.0.identity_id"
	return q
}

// holderOf returns the name under which the tokens of an address are kept.
func holderOf(email string) string {
	if len(email) > 2 && email[0] == 'a' && email[2] == '@' {
		return email[:2]
	}
	return "a0"
}

const challenge = "0123456789012345678901234567890123456789012"

func (w walk) pkce(body object) object {
	if w.often(10) {
		body["code_challenge"] = w.of(challenge, "short", "")
		body["code_challenge_method"] = w.of("s256", "plain", "x", "")
	}
	return body
}

// next returns the next request.
func (w walk) next() compare.Request {
	kinds := []struct {
		share int
		make  func() compare.Request
	}{{14, w.signup}, {12, w.grant}, {8, w.account}, {8, w.change}, {8, w.message}, {10, w.verify}, {22, w.admin},
		{8, func() compare.Request { return link(w) }}, {10, w.factor}, {6, w.other},
		{3, func() compare.Request { return malformed(w) }}, {5, func() compare.Request { return application(w) }},
		{w.singleShare, func() compare.Request { return single(w) }}}
	total := 0
	for _, k := range kinds {
		total += k.share
	}
	n := w.IntN(total)
	for _, k := range kinds {
		if n < k.share {
			return k.make()
		}
		n -= k.share
	}
	return w.other()
}

func (w walk) data() object {
	switch w.IntN(4) {
	case 0:
		return object{"name": "Ayan", "n": 1, "list": []int{1}}
	case 1:
		return object{"email_verified": true, "sub": "x", "email": "other@example.org"}
	}
	return nil
}

// changes are data with a member that is removed.
func (w walk) changes() object {
	if w.often(20) {
		return object{"name": nil}
	}
	return w.data()
}

func (w walk) signup() compare.Request {
	switch {
	case w.often(12):
		return tokens(w.request("POST", "/signup", "", object{"data": w.data()}), "anonymous")
	case w.often(30):
		return tokens(w.request("POST", "/signup", "", w.pkce(object{"phone": w.phone(), "password": w.password(),
			"channel": w.of("", "sms", "whatsapp", "pigeon"), "data": w.data()})), "p")
	}
	email := w.email()
	body := w.pkce(object{"email": email, "password": w.password(), "data": w.data()})
	if w.often(4) {
		body["phone"] = w.phone()
	}
	return tokens(w.request("POST", "/signup", "", body), holderOf(email))
}

func (w walk) grant() compare.Request {
	switch w.IntN(10) {
	case 0, 1, 2, 3:
		email := w.email()
		return tokens(w.request("POST", "/token?grant_type=password", "",
			object{"email": email, "password": w.password()}), holderOf(email))
	case 4:
		return tokens(w.request("POST", "/token?grant_type=password", "",
			object{"phone": w.phone(), "password": w.password()}), "p")
	case 5, 6, 7:
		name := w.holder()
		q := w.request("POST", "/token?grant_type=refresh_token", "",
			object{"refresh_token": w.of("${refresh."+name+"}", "${refresh."+name+"}", "${before."+name+"}", "", "x",
				"aaaaaaaaaaaa")})
		q.Keep["access."+name], q.Keep["refresh."+name] = "access_token", "refresh_token"
		return q
	case 8:
		return w.request("POST", "/token?grant_type=pkce", "", object{"auth_code": w.of("", "x", "${code}"),
			"code_verifier": w.of("", challenge)})
	}
	return w.request("POST", "/token"+w.of("", "?grant_type=", "?grant_type=x", "?grant_type=web3",
		"?grant_type=id_token", "?grant_type=id_token", "?grant_type=id_token"), "",
		object{"provider": w.of("google", "x", ""), "id_token": w.of("", "x")})
}

func (w walk) account() compare.Request {
	switch w.IntN(8) {
	case 0:
		return w.request("POST", "/logout"+w.of("", "?scope=local", "?scope=others", "?scope=global", "?scope=x"),
			w.user(), nil)
	case 1:
		return w.request("GET", "/reauthenticate", w.user(), nil)
	case 2:
		return w.request("DELETE", "/user/identities/"+w.of("${identity.a0}", "${identity.p}", "x",
			"1f0e8a5c-0000-4000-8000-000000000001"), w.user(), nil)
	case 3:
		return w.request("GET", "/user/identities/authorize?provider="+w.of("x", "google", "github")+
			"&skip_http_redirect=true", w.user(), nil)
	}
	return w.request("GET", "/user", w.user(), nil)
}

func (w walk) change() compare.Request {
	body := object{}
	switch w.IntN(8) {
	case 0, 1:
		body["data"] = w.changes()
	case 2:
		body["password"] = w.password()
		body["current_password"] = w.password()
	case 3, 4:
		body["email"] = w.email()
		w.pkce(body)
	case 5, 6:
		body["phone"], body["channel"] = w.phone(), w.of("", "sms", "whatsapp", "pigeon")
	case 7:
		switch w.IntN(3) {
		case 0:
			body["app_metadata"] = object{"x": 1}
		case 1:
			body["nonce"], body["password"] = "123456", w.password()
		}
	}
	return w.request("PUT", "/user", w.user(), body)
}

// message are requests that send a mail or a text.
func (w walk) message() compare.Request {
	to := w.of("", "?redirect_to=https://site.example.com/x", "?redirect_to=https://evil.example.net/")
	switch w.IntN(6) {
	case 0:
		return w.request("POST", "/recover"+to, "", w.pkce(object{"email": w.email()}))
	case 1:
		return w.request("POST", "/magiclink"+to, "", w.pkce(object{"email": w.email(), "data": w.data()}))
	case 2:
		body := w.pkce(object{"email": w.email(), "create_user": w.often(60), "data": w.data()})
		if w.often(5) {
			body["channel"] = "sms"
		}
		return w.request("POST", "/otp"+to, "", body)
	case 3, 4:
		return w.request("POST", "/otp", "", object{"phone": w.phone(), "create_user": w.often(60),
			"channel": w.of("", "sms", "whatsapp", "pigeon")})
	}
	body := object{"type": w.of("signup", "sms", "email_change", "phone_change", "x", "")}
	if w.often(60) {
		body["email"] = w.email()
	} else {
		body["phone"] = w.phone()
	}
	return w.request("POST", "/resend", "", body)
}

func (w walk) verify() compare.Request {
	kind := w.of("signup", "invite", "magiclink", "recovery", "email_change", "email")
	email := w.email()
	switch w.IntN(7) {
	case 0, 1:
		return tokens(w.request("POST", "/verify", "", object{"type": w.of("sms", "sms", "phone_change", "x"),
			"phone": w.phone(), "token": w.of("123456", "123456", "000000", "")}), "p")
	case 2, 3:
		return tokens(w.request("POST", "/verify", "", object{"type": kind, "token_hash": w.of("${hash}", "${hash}",
			"x", "")}), "a0")
	case 4:
		return tokens(w.request("POST", "/verify", "", object{"type": kind, "email": email,
			"token": w.of("${otp}", "000000", "")}), holderOf(email))
	case 5:
		q := w.request("GET", "/verify?type="+kind+"&token="+w.of("${hash}", "${hash}", "x", "")+
			w.of("", "&redirect_to=https://site.example.com/x", "&redirect_to=https://evil.example.net/"), "", nil)
		return q
	}
	return tokens(w.request("POST", "/verify", "", object{"type": w.of(kind, "", "x"), "email": w.of(email, ""),
		"phone": w.of("", w.phone()), "token": "${otp}", "token_hash": w.of("", "${hash}")}), "a0")
}

func link(w walk) compare.Request {
	email := w.email()
	q := w.request("POST", "/admin/generate_link", w.administrator(), object{
		"type":  w.of("signup", "invite", "magiclink", "recovery", "email_change_new", "email_change_current", "x", ""),
		"email": email, "new_email": w.email(), "password": w.password(), "data": w.data(),
		"redirect_to": w.of("", "https://site.example.com/x", "https://evil.example.net/"),
	})
	q.Keep["hash"], q.Keep["otp"], q.Keep["id."+holderOf(email)] = "hashed_token", "email_otp", "id"
	if w.often(20) {
		q.Header["X-Forwarded-Host"] = w.of("auth.example.com", "evil.example.net", "localhost")
		q.Header["X-Forwarded-Proto"] = w.of("http", "https")
	}
	return q
}

func (w walk) other() compare.Request {
	switch w.IntN(10) {
	case 0:
		return w.request("GET", "/settings", "", nil)
	case 1:
		return w.request("GET", "/.well-known/"+w.of("jwks.json", "openid-configuration",
			"oauth-authorization-server"), "", nil)
	case 2:
		return w.request("GET", "/authorize?provider="+w.of("", "x", "google", "github", "custom:x"), "", nil)
	case 3:
		return w.request("GET", "/callback?"+w.of("", "state=x", "state=1f0e8a5c-0000-4000-8000-000000000001&code=x",
			"error=access_denied"), "", nil)
	case 4:
		return w.request("POST", "/sso", "", object{"domain": "example.org"})
	case 5:
		return w.request(w.of("GET", "POST"), "/sso/saml/"+w.of("metadata", "acs"), "", nil)
	case 6:
		return w.request("POST", "/invite", w.administrator(), object{"email": w.email(), "data": w.data()})
	case 7:
		return w.request(w.of("GET", "POST", "DELETE", "PATCH"), w.of("/user", "/signup", "/token", "/x", "/",
			"/admin/users", "/verify", "/factors"), w.user(), nil)
	case 8:
		return w.request("POST", w.of("/passkeys/authentication/options", "/passkeys/registration/options"), w.user(),
			object{})
	}
	return w.request("GET", "/health", "", nil)
}

// malformed are bodies that are not the expected JSON.
func malformed(w walk) compare.Request {
	q := w.request("POST", w.of("/signup", "/token?grant_type=password", "/recover", "/otp", "/verify", "/resend",
		"/admin/users", "/admin/generate_link"), w.administrator(), nil)
	q.Body = w.of("", "{", "[]", "null", `"x"`, `{"email":1}`, `{"email":{}}`, `{"phone":[]}`, `{"data":"x"}`,
		`{"password":true}`, `{"email":"a0@example.org","email":null}`)
	return q
}

// application are requests about the OAuth server and custom providers.
func application(w walk) compare.Request {
	switch w.IntN(6) {
	case 0:
		q := w.request("POST", "/admin/oauth/clients", w.administrator(), object{"client_name": w.of("shop", ""),
			"redirect_uris":              []string{w.of("https://shop.example.net/cb", "http://shop.example.net/cb", "x")},
			"token_endpoint_auth_method": w.of("client_secret_post", "none", "x")})
		q.Keep["client"] = "client_id"
		return q
	case 1:
		return w.request(w.of("GET", "DELETE"), "/admin/oauth/clients/"+w.of("${client}", "x"), w.administrator(), nil)
	case 2:
		return w.request("POST", "/oauth/token", "", object{"grant_type": w.of("authorization_code", "refresh_token",
			"x"), "client_id": "${client}", "code": "x"})
	case 3:
		return w.request("GET", "/user/oauth/grants", w.user(), nil)
	case 4:
		return w.request("GET", "/admin/custom-providers"+w.of("", "/custom:x", "/x"), w.administrator(), nil)
	}
	return w.request("POST", "/admin/custom-providers", w.administrator(), object{
		"provider_type": w.of("oauth2", "oidc", "saml"), "identifier": w.of("custom:x", "x", "custom:X"), "name": "X",
		"client_id": "client", "client_secret": "s", "issuer": w.of("https://127.0.0.1/", "http://example.org", ""),
		"authorization_url": "https://" + w.of("localhost", "10.0.0.1", "127.0.0.1", "a.localhost") + "/auth",
		"token_url":         "https://169.254.169.254/token", "userinfo_url": "https://[::1]/me",
	})
}

// admin are requests of administrators about users.
func (w walk) admin() compare.Request {
	name := w.holder()
	user := "/admin/users/" + w.of("${id."+name+"}", "${id."+name+"}", "${id."+name+"}", "x",
		"1f0e8a5c-0000-4000-8000-000000000001")
	switch w.IntN(12) {
	case 0, 1, 2:
		email := w.email()
		body := w.attributes()
		body["email"] = email
		if w.often(15) {
			body["phone"] = w.phone()
		}
		if w.often(8) {
			body["id"] = w.of("${id."+name+"}", "x", "00000000-0000-0000-0000-000000000000")
		}
		q := w.request("POST", "/admin/users", w.administrator(), body)
		q.Keep["id."+holderOf(email)] = "id"
		return q
	case 3:
		q := w.request("POST", "/admin/users", w.administrator(), object{"phone": w.phone(), "phone_confirm": true,
			"password": w.password()})
		q.Keep["id.p"] = "id"
		return q
	case 4, 5, 6:
		body := w.attributes()
		if w.often(30) {
			body["email"] = w.email()
		}
		if w.often(30) {
			body["phone"] = w.phone()
		}
		return w.request("PUT", user, w.administrator(), body)
	case 7:
		return w.request("GET", "/admin/users"+w.of("", "?per_page=2", "?page=2&per_page=1", "?page=x", "?per_page=0",
			"?filter=a1", "?sort=email"), w.administrator(), nil)
	case 8:
		return w.request("DELETE", user, w.administrator(), object{"should_soft_delete": w.often(40)})
	case 9:
		return w.request("GET", user+w.of("/factors", ""), w.administrator(), nil)
	case 10:
		return w.request(w.of("PUT", "DELETE"), user+"/factors/"+w.of("${factor}", "x"), w.administrator(),
			object{"friendly_name": "f"})
	}
	return w.request("GET", user, w.administrator(), nil)
}

// attributes are members of a user that an administrator sets.
func (w walk) attributes() object {
	out := object{}
	for _, member := range []struct {
		name  string
		value any
	}{
		{"password", w.password()}, {"email_confirm", w.often(70)}, {"phone_confirm", w.often(70)},
		{"user_metadata", w.changes()}, {"app_metadata", object{"plan": "free", "provider": w.of("ours", "email")}},
		{"role", w.of("authenticated", "editor")}, {"ban_duration", w.of("none", "1h", "x")},
	} {
		if w.often(60) {
			out[member.name] = member.value
		}
	}
	return out
}

func (w walk) factor() compare.Request {
	as := w.user()
	if w.often(40) { // users without an address, or with one that their token does not know
		as = "Bearer ${access." + w.of("p", "anonymous") + "}"
	}
	one := "/factors/" + w.of("${factor}", "${factor}", "${factor}", "x", "1f0e8a5c-0000-4000-8000-000000000001")
	switch w.IntN(8) {
	case 0, 1:
		q := w.request("POST", "/factors", as, object{"factor_type": w.of("totp", "totp", "phone", "webauthn", "x"),
			"friendly_name": w.of("one", "two", ""), "phone": w.of("252610000009", ""), "issuer": w.of("", "me")})
		q.Keep["factor"], q.Keep["secret"] = "id", "totp.secret"
		return q
	case 2, 3:
		q := w.request("POST", one+"/challenge", as, object{"channel": w.of("", "sms", "whatsapp", "pigeon")})
		q.Keep["challenge"] = "id"
		return q
	case 4, 5, 6:
		return w.request("POST", one+"/verify", as, object{
			"challenge_id": w.of("${challenge}", "${challenge}", "x"), "code": w.of("000000", "", "${code of secret}")})
	}
	return w.request("DELETE", one, as, nil)
}
