package rest_test

import (
	"testing"

	"daawo/supabase/internal/engine/rest"
	"daawo/supabase/internal/engine/rest/token"
)

func TestTokens(t *testing.T) {
	b := open(t, nil)
	past := `{"role":"authenticated","exp":1}`
	closed := openOn(t, b.db, func(c *rest.Config) { c.AnonRole = "" })
	noKey := openOn(t, b.db, func(c *rest.Config) { c.Keys = nil })
	audience := openOn(t, b.db, func(c *rest.Config) { c.Audience = func(a string) bool { return a == "library" } })
	path, err := token.ParsePath(`$.app.roles[?(@ == "anon")]`)
	if err != nil {
		t.Fatal(err)
	}
	byPath := openOn(t, b.db, func(c *rest.Config) { c.RoleClaim = path })
	b.run(t, []scenario{
		{name: "expired", url: "/shelves", as: past, status: 401,
			want:  `{"code":"PGRST303","message":"JWT expired","details":null,"hint":null}`,
			reply: `WWW-Authenticate: Bearer error="invalid_token", error_description="JWT expired"`},
		{name: "empty", url: "/shelves", header: "Authorization: Bearer ", status: 401,
			want: `{"code":"PGRST301","message":"Empty JWT is sent in Authorization header","details":null,"hint":null}`},
		{name: "two parts", url: "/shelves", header: "Authorization: Bearer a.b", status: 401,
			want: `{"code":"PGRST301","message":"Expected 3 parts in JWT; got 2","details":null,"hint":null}`},
		{name: "wrong key", url: "/shelves", header: "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.AAAA", status: 401,
			want: `{"code":"PGRST301","message":"No suitable key or wrong key type","details":"None of the keys was able to decode the JWT","hint":null}`},
		{name: "no algorithm", url: "/shelves", header: "Authorization: Bearer eyJhbGciOiJub25lIn0.e30.", status: 401,
			want: `{"code":"PGRST301","message":"Wrong or unsupported encoding algorithm","details":"JWT is unsecured but expected 'alg' was not 'none'","hint":null}`},
		{name: "another scheme is anonymous", url: "/shelves?limit=0", header: "Authorization: Basic eDp5"},
		{name: "unknown role", url: "/shelves", as: `{"role":"missing"}`, status: 401,
			want: `{"code":"22023","message":"role \"missing\" does not exist","details":null,"hint":null}`},
		{name: "forbidden role", url: "/shelves", as: `{"role":"postgres"}`, status: 403,
			want: `{"code":"42501","message":"permission denied to set role \"postgres\"","details":null,"hint":null}`},
		{name: "audience without jwt-aud", url: "/shelves?limit=0", as: `{"role":"anon","aud":"x"}`},
	})
	closed.run(t, []scenario{{name: "no anonymous role", url: "/shelves", status: 401,
		reply: "WWW-Authenticate: Bearer",
		want:  `{"code":"PGRST302","message":"Anonymous access is disabled","details":null,"hint":null}`}})
	noKey.run(t, []scenario{{name: "no key", url: "/shelves", as: `{"role":"anon"}`, status: 500,
		want: `{"code":"PGRST300","message":"Server lacks JWT secret","details":null,"hint":null}`}})
	audience.run(t, []scenario{
		{name: "audience", url: "/shelves?limit=0", as: `{"role":"anon","aud":["x","library"]}`},
		{name: "wrong audience", url: "/shelves", as: `{"role":"anon","aud":"x"}`, status: 401,
			want: `{"code":"PGRST303","message":"JWT not in audience","details":null,"hint":null}`},
	})
	byPath.run(t, []scenario{{name: "role by path", url: "/rpc/whoami",
		as: `{"app":{"roles":["x","anon"]},"role":"authenticated"}`, not: `"role" : "authenticated"`}})
}
