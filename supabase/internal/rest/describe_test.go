package rest_test

import (
	"encoding/json"
	"testing"

	"daawo/supabase/internal/rest"
	"daawo/supabase/internal/rest/schema"
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
	off.run(t, []scenario{{name: "disabled", url: "/", status: 404, want: `{"code":"PGRST126","message":"Root endpoint metadata is disabled","details":null,"hint":null}`}})
	fn := openOn(t, b.db, func(c *rest.Config) { c.RootFunction = &schema.Name{Name: "pair"} })
	fn.run(t, []scenario{{name: "function at the root", url: "/", want: `{"x":1,"y":"one"}`}})
}
