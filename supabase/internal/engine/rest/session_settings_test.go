package rest_test

import (
	"strconv"
	"testing"

	"daawo/supabase/internal/engine/rest"
	"daawo/supabase/internal/engine/rest/schema"
)

func TestSessionSettings(t *testing.T) {
	b := open(t, func(c *rest.Config) {
		c.AppSettings = [][2]string{{"app.settings.name", "library"}}
		c.PreRequest = &schema.Name{Schema: "api", Name: "check_caller"}
	})
	b.run(t, []scenario{
		{name: "all settings", url: "/rpc/whoami", as: `{"role":"authenticated","sub":"amina"}`,
			header: "X-Test: yes\nCookie: c=crumb\nPrefer: timezone=Africa/Nairobi",
			want: `{"role":"authenticated","claims":{"role":"authenticated","sub":"amina"},"method":"GET","path":"/rpc/whoami","header":"yes","cookie":"crumb",
				"app":"library","zone":"Africa/Nairobi","search_path":"\"api\", \"public\""}`,
			reply: "Preference-Applied: timezone=Africa/Nairobi"},
		{name: "anonymous", method: "POST", url: "/rpc/whoami",
			want: `{"role":"anon","claims":{"role":"anon"},"method":"POST","path":"/rpc/whoami","header":null,"cookie":null,
				"app":"library","zone":"UTC","search_path":"\"api\", \"public\""}`},
		{name: "unknown time zone", url: "/rpc/whoami", header: "Prefer: timezone=Nowhere/Land", status: 400},
		{name: "pre-request raises an error", url: "/authors", header: "X-Blocked: yes", status: 402,
			want: `{"code":"PT402","message":"Payment Required","details":null,"hint":"pay"}`},
		{name: "status and headers", url: "/rpc/teapot", status: 418, want: `"short and stout"`,
			reply: "X-Tea: mint\nSet-Cookie: a=1\nSet-Cookie: b=2"},
		{name: "invalid headers", url: "/rpc/bad_headers", status: 500,
			want: `{"code":"PGRST111","message":"response.headers guc must be a JSON array composed of objects with a single key and a string value","details":null,"hint":null}`},
		{name: "invalid status", url: "/rpc/bad_status", status: 500,
			want: `{"code":"PGRST112","message":"response.status guc must be a valid status code","details":null,"hint":null}`},
		{name: "unknown preference, strict", url: "/authors", header: "Prefer: handling=strict, be=nice", status: 400,
			want: `{"code":"PGRST122","message":"Invalid preferences given with handling=strict","details":"Invalid preferences: be=nice","hint":null}`},
		{name: "unknown preference, lenient", url: "/shelves?limit=0", header: "Prefer: handling=lenient, be=nice",
			reply: "Preference-Applied: handling=lenient"},
	})
}

// TestManySettings sets more settings than a Postgres function can have arguments.
func TestManySettings(t *testing.T) {
	b := open(t, func(c *rest.Config) {
		for i := range 150 {
			c.AppSettings = append(c.AppSettings, [2]string{"app.settings.n" + strconv.Itoa(i), "x"})
		}
		c.AppSettings = append(c.AppSettings, [2]string{"app.settings.name", "last"})
	})
	b.run(t, []scenario{{name: "last setting", url: "/rpc/whoami", as: `{"role":"anon"}`,
		header: "X-Test: yes\nCookie: c=crumb", want: `{"role":"anon",
		"claims":{"role":"anon"},"method":"GET","path":"/rpc/whoami","header":"yes","cookie":"crumb","app":"last","zone":"UTC","search_path":"\"api\", \"public\""}`}})
}
