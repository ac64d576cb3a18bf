package host

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"daawo/supabase/edge"
)

type tree struct {
	Name     string `json:"name" validate:"required,max=10" doc:"Of the node."`
	Children []tree `json:"children,omitempty"`
	Parent   *tree  `json:"parent,omitempty"`
	Colour   string `json:"colour" validate:"oneof=red green"`
}

func typedFunctions() map[string]edge.Func {
	same := edge.JSON(func(_ *http.Request, _ *edge.Env, in tree) (tree, error) { return in, nil })
	none := edge.JSON(func(*http.Request, *edge.Env, edge.None) (edge.None, error) { return edge.None{}, nil })
	return map[string]edge.Func{
		"copy-tree": {JSON: same},
		"ping":      {JSON: none, Methods: []string{http.MethodGet}, NoVerifyJWT: true},
		"raw":       {Handler: hello},
		"nightly":   {Schedule: "0 3 * * *", Run: func(context.Context, *edge.Env) error { return nil }},
	}
}

// TestOpenAPI checks paths, schemas and references of the document. web/tests/stack validates a
// whole document.
func TestOpenAPI(t *testing.T) {
	text, err := OpenAPI(typedFunctions())
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			RequestBody *struct{ Required bool }
			Responses   map[string]any
			Security    []map[string][]string
		}
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.OpenAPI != "3.1.0" || len(d.Paths) != 3 {
		t.Errorf("%s with %d paths, want 3.1.0 with 3", d.OpenAPI, len(d.Paths))
	}
	if p := d.Paths["/copy-tree"]["post"]; p.RequestBody == nil || !p.RequestBody.Required ||
		p.Responses["200"] == nil || len(p.Security) != 2 {
		t.Errorf("copy-tree: %+v", p)
	}
	if p := d.Paths["/ping"]["get"]; p.RequestBody != nil || p.Responses["204"] == nil || len(p.Security) != 0 {
		t.Errorf("ping: %+v", p)
	}
	for name, want := range map[string]string{
		"CopyTreeRequest":    `{"$ref":"#/components/schemas/CopyTree.tree"}`,
		"CopyTreeReply":      `{"$ref":"#/components/schemas/CopyTree.treeReply"}`,
		"CopyTree.tree":      `{"type":"object","properties":{"children":{"type":["array","null"],"items":{"$ref":"#/components/schemas/CopyTree.tree"}},"colour":{"type":"string","enum":["red","green"]},"name":{"type":"string","description":"Of the node.","minLength":1,"maxLength":10},"parent":{"anyOf":[{"$ref":"#/components/schemas/CopyTree.tree"},{"type":"null"}]}},"required":["name"],"additionalProperties":false}`,
		"CopyTree.treeReply": `{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/components/schemas/CopyTree.treeReply"}},"colour":{"type":"string"},"name":{"type":"string","description":"Of the node."},"parent":{"anyOf":[{"$ref":"#/components/schemas/CopyTree.treeReply"},{"type":"null"}]}},"required":["colour","name"],"additionalProperties":false}`,
	} {
		if got := string(d.Components.Schemas[name]); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

// TestOpenAPINeedsKey checks that callers without a token or key get no document.
func TestOpenAPINeedsKey(t *testing.T) {
	h := hosting(t, typedFunctions())
	if w := serve(h, http.MethodGet, "/_openapi.json", nil); w.Code != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", w.Code, w.Body)
	}
	w := serve(h, http.MethodGet, "/_openapi.json", map[string]string{"Authorization": `Bearer x.{"role":"anon"}.y`})
	if w.Code != http.StatusOK || !json.Valid(w.Body.Bytes()) {
		t.Errorf("with a token: %d %s", w.Code, w.Body)
	}
}

// TestWrongTypesStopTheStart checks that a mistake in the types of edge.JSON is found by New.
func TestWrongTypesStopTheStart(t *testing.T) {
	bad := edge.JSON(func(_ *http.Request, _ *edge.Env, _ struct {
		A string `validate:"requird"`
	}) (edge.None, error) {
		return edge.None{}, nil
	})
	if _, err := New(Options{Functions: map[string]edge.Func{"bad": {JSON: bad}}}); err == nil {
		t.Error("New accepts a rule that does not exist")
	}
}
