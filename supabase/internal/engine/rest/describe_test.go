package rest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"daawo/supabase/internal/engine/rest"
	"daawo/supabase/internal/engine/rest/schema"
)

func TestOpenAPI(t *testing.T) {
	b := open(t, nil)
	all := openOn(t, b.db, func(c *rest.Config) { c.OpenAPI, c.OpenAPISecured = rest.IgnorePrivileges, true })
	off := openOn(t, b.db, func(c *rest.Config) { c.OpenAPI = rest.OpenAPIDisabled })
	var doc struct {
		Info        struct{ Title, Description string }
		Definitions map[string]any
		Paths       map[string]map[string]any
		Security    []any
	}
	get := func(b *harness) {
		doc.Definitions, doc.Paths, doc.Security = nil, nil, nil
		w := b.do(t, scenario{url: "/"})
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/openapi+json; charset=utf-8" {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
	}
	get(b)
	if doc.Info.Title != "Library" || doc.Info.Description != "Books and who wrote them." {
		t.Errorf("%+v", doc.Info)
	}
	if doc.Definitions["authors"] == nil || doc.Definitions["secrets"] != nil {
		t.Error("follow-privileges: authors is missing or secrets is shown")
	}
	if doc.Paths["/rpc/nothing"]["get"] != nil || doc.Paths["/rpc/add"]["get"] == nil {
		t.Error("a volatile function has GET, or a stable function has not")
	}
	get(all)
	if doc.Definitions["secrets"] == nil || len(doc.Security) != 1 {
		t.Error("ignore-privileges: secrets or the security definition is missing")
	}
	off.run(t, []scenario{{name: "disabled", url: "/", status: 404,
		want: `{"code":"PGRST126","message":"Root endpoint metadata is disabled","details":null,"hint":null}`}})
	b.db.Exec(`comment on schema api is 'Only a title'; create type archive.mood as enum ('ok'); create type api.mood as enum ('ok'); create function api.feel(m api.mood, o archive.mood) returns int
		language sql stable as 'select 1'; create function api.none() returns int language sql stable as 'select 1'`)
	all = openOn(t, b.db, func(c *rest.Config) { c.OpenAPI = rest.IgnorePrivileges })
	for name, o := range map[string]*harness{"api.mood": all, "mood": openOn(t, b.db, nil)} {
		body := o.do(t, scenario{url: "/"}).Body.String()
		for _, want := range []string{`"info":{"description":"","title":"Only a title"`, `"format":"` + name +
			`","type":"string"`, `"format":"archive.mood"`,
			`"/rpc/none":{"get":{"produces"`} {
			if !strings.Contains(body, want) {
				t.Errorf("%s is missing", want)
			}
		}
	}
	fn := openOn(t, b.db, func(c *rest.Config) { c.RootFunction = &schema.Name{Name: "pair"} })
	fn.run(t, []scenario{{name: "function at the root", url: "/", want: `{"x":1,"y":"one"}`}})
}
