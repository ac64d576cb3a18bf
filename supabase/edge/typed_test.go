package edge_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/edgetest"
)

// A function of typed JSON: its types decode, check and describe it.
func ExampleJSON() {
	type visit struct {
		Clinic string `json:"clinic" validate:"required,max=80"`
		Day    string `json:"day" validate:"required,format=date"`
	}
	type booking struct {
		Number int `json:"number"`
	}
	_ = edge.Func{
		JSON: edge.JSON(func(_ *http.Request, env *edge.Env, v visit) (booking, error) {
			if v.Clinic == "closed" {
				return booking{}, edge.Errorf(http.StatusConflict, "closed", "The clinic is closed.")
			}
			env.Header().Set("Location", "/visits/1")
			return booking{Number: 1}, nil
		}).WithStatus(http.StatusCreated),
	}
}

type address struct {
	Street string `json:"street" validate:"required"`
}

type order struct {
	Name    string            `json:"name" validate:"required,max=5"`
	Email   *string           `json:"email" validate:"format=email"`
	Kind    string            `json:"kind" validate:"oneof=small large"`
	Code    string            `json:"code" validate:"pattern=^[A-Z]{2},[0-9]$"`
	Count   int               `json:"count" validate:"min=0,max=3"`
	Tags    []string          `json:"tags" validate:"max=2"`
	To      *address          `json:"to"`
	Others  []address         `json:"others"`
	Notes   map[string]string `json:"notes"`
	When    time.Time         `json:"when"`
	private string            //lint:ignore U1000 a caller must not be able to set it
}

func (o *order) Validate() error {
	if o.Name == "taken" {
		return edge.Errorf(http.StatusConflict, "taken", "The name is taken.")
	}
	return nil
}

func TestJSON(t *testing.T) {
	f := edgetest.New(t, edge.Func{JSON: edge.JSON(func(_ *http.Request, env *edge.Env, o order) (map[string]string,
		error) {
		if o.Name == "fail" {
			return nil, errors.New("broken")
		}
		env.Header().Set("X-Kind", o.Kind)
		return map[string]string{"name": o.Name}, nil
	}).WithStatus(http.StatusCreated)})
	for body, want := range map[string]struct {
		status int
		text   string
	}{
		`{"name":"a","kind":"small"}`:                  {201, `{"name":"a"}`},
		`{"name":"a","email":null,"code":"AB,1"}`:      {201, `{"name":"a"}`},
		`{"name":"a","to":{"street":"x"},"others":[]}`: {201, ``},
		`{}`: {400,
			`{"code":"validation_failed","message":"name is required.","fields":{"name":"is required"}}`},
		`{"name":"toolong"}`:                        {400, `name must have at most 5 characters`},
		`{"name":"ääääää"}`:                         {400, `name must have at most 5 characters`},
		`{"name":"äääää"}`:                          {201, ``},
		`{"name":"a","email":"x"}`:                  {400, `email must be an email address`},
		`{"name":"a","email":"a@example.org"}`:      {201, ``},
		`{"name":"a","kind":"huge"}`:                {400, `kind must be one of: small, large`},
		`{"name":"a","code":"ab,1"}`:                {400, `code must match`},
		`{"name":"a","count":4}`:                    {400, `count must be at most 3`},
		`{"name":"a","count":-1}`:                   {400, `count must be at least 0`},
		`{"name":"a","tags":["1","2","3"]}`:         {400, `tags must have at most 2 items`},
		`{"name":"a","to":{}}`:                      {400, `"to.street":"is required"`},
		`{"name":"a","others":[{"street":"x"},{}]}`: {400, `"others[1].street":"is required"`},
		`{"count":9,"kind":"x"}`: {400,
			`count must be at most 3; kind must be one of: small, large; name is required.`},
		`{"name":"taken"}`:           {409, `The name is taken.`},
		`{"name":"fail"}`:            {500, ``},
		`{"name":"a","private":"x"}`: {400, `unknown field`},
		`{"name":1}`:                 {400, `must not be a number`},
		`{"name":"a","when":"2026-08-31T10:00:00+03:00"}`: {201, ``},
	} {
		w := f.Call(http.MethodPost, "/order", body)
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.text) {
			t.Errorf("%s: %d %s, want %d %s", body, w.Code, w.Body, want.status, want.text)
		}
	}
	if kind := f.Call(http.MethodPost, "/order",
		`{"name":"a","kind":"large"}`).Header().Get("X-Kind"); kind != "large" {
		t.Errorf("header of the reply: %q", kind)
	}
	if !slices.Equal(f.Func.Methods, []string{http.MethodPost}) {
		t.Errorf("methods: %v", f.Func.Methods)
	}
}

func TestJSONWithoutBody(t *testing.T) {
	done := false
	f := edgetest.New(t, edge.Func{JSON: edge.JSON(func(*http.Request, *edge.Env, edge.None) (edge.None, error) {
		done = true
		return edge.None{}, nil
	})})
	if w := f.Call(http.MethodPost, "/x", ""); w.Code != http.StatusNoContent || w.Body.Len() > 0 || !done {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestJSONMistakes checks that wrong types are found before the first call.
func TestJSONMistakes(t *testing.T) {
	type channel struct{ C chan int }
	for name, c := range map[string]struct {
		e    *edge.Endpoint
		says string
	}{
		"unknown rule": {endpoint[struct {
			A string `validate:"requird"`
		}](), `"requird": unknown rule`},
		"wrong kind": {endpoint[struct {
			A int `validate:"format=email"`
		}](), "does not apply to int"},
		"no number": {endpoint[struct {
			A int `validate:"min=x"`
		}](), "is not a number"},
		"no format": {endpoint[struct {
			A string `validate:"format=phone"`
		}](), "unknown value"},
		"bad pattern": {endpoint[struct {
			A string `validate:"pattern=("`
		}](), "missing closing"},
		"nested": {endpoint[struct {
			A []struct {
				B bool `validate:"min=1"`
			}
		}](), "field A: field B"},
		"only shown": {endpoint[struct {
			A string `schema:"format=phone"`
		}](), "unknown value"},
		"not JSON":      {endpoint[channel](), "cannot hold"},
		"without rules": {endpoint[order](), ""},
	} {
		err := c.e.Err()
		if text := fmt.Sprint(err); (err == nil) != (c.says == "") || !strings.Contains(text, c.says) && c.says != "" {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func endpoint[In any]() *edge.Endpoint {
	return edge.JSON(func(*http.Request, *edge.Env, In) (edge.None, error) { return edge.None{}, nil })
}
