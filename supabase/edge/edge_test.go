package edge_test

import (
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daawo/supabase/edge"
	"daawo/supabase/edgetest"
)

// A function reads a JSON body and replies.
func Example() {
	hello := edge.Func{
		Methods: []string{http.MethodPost},
		Handler: func(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
			body, err := edge.ReadJSON[struct {
				Name string `json:"name"`
			}](r)
			if err != nil {
				return err
			}
			return edge.WriteJSON(w, http.StatusOK, map[string]string{"message": "Hello " + body.Name})
		},
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/hello", strings.NewReader(`{"name":"Amina"}`))
	_ = hello.Handler(w, r, nil)
	fmt.Print(w.Body)
	// Output: {"message":"Hello Amina"}
}

func TestReadJSON(t *testing.T) {
	type body struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
	}
	f := edgetest.New(t, edge.Func{MaxBody: 100,
		Handler: func(w http.ResponseWriter, r *http.Request, _ *edge.Env) error {
			b, err := edge.ReadJSON[body](r)
			if err != nil {
				return err
			}
			return edge.WriteJSON(w, http.StatusOK, b)
		}})
	for _, c := range []struct {
		kind, body string
		status     int
		says       string
	}{
		{"application/json", `{"name":"x","count":2}`, 200, `"count":2`},
		{"application/json; charset=utf-8", `{}`, 200, ``},
		{"application/vnd.x+json", `{}`, 200, ``},
		{"", `{}`, 200, ``},
		{"text/plain", `{}`, 415, `must be JSON`},
		{"application/json", ``, 400, `empty or cut off`},
		{"application/json", `{"name":`, 400, `empty or cut off`},
		{"application/json", `{"name":1}`, 400, `\"name\" must not be a number`},
		{"application/json", `{"other":1}`, 400, `unknown field: \"other\"`},
		{"application/json", `{} {}`, 400, `something after`},
		{"application/json", `[]`, 400, `must not be a array`},
		{"application/json", `{x}`, 400, `error at byte 2`},
		{"application/json", `{"name":"` + strings.Repeat("x", 100) + `"}`, 413, `larger than 100 bytes`},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		w := f.Do(r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s: %d %s, want %d and %q", c.kind, c.body, w.Code, w.Body, c.status, c.says)
		}
	}
}

func TestReadForm(t *testing.T) {
	most := edge.FormLimits{Fields: 2, FieldBytes: 10, Files: 1, FileBytes: 10}
	multi := func(write func(*multipart.Writer)) *http.Request {
		var b strings.Builder
		m := multipart.NewWriter(&b)
		write(m)
		_ = m.Close()
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(b.String()))
		r.Header.Set("Content-Type", m.FormDataContentType())
		return r
	}
	encoded := func(body string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return r
	}
	file := func(content string) *http.Request {
		return multi(func(m *multipart.Writer) {
			w, _ := m.CreateFormFile("f", "a.txt")
			_, _ = w.Write([]byte(content))
		})
	}
	for name, c := range map[string]struct {
		r      *http.Request
		status int // 0: read
		check  func(*edge.Form) bool
	}{
		"fields": {multi(func(m *multipart.Writer) { _ = m.WriteField("a", "1") }), 0,
			func(f *edge.Form) bool { return f.Values.Get("a") == "1" }},
		"encoded": {encoded("a=1&b=%20"), 0, func(f *edge.Form) bool { return f.Values.Get("b") == " " }},
		"file": {file("0123456789"), 0,
			func(f *edge.Form) bool { return len(f.Files["f"].Content) == 10 && !f.Files["f"].TooLarge }},
		"large file": {file("01234567890"), 0,
			func(f *edge.Form) bool { return f.Files["f"].TooLarge && f.Files["f"].Content == nil }},
		"empty file":   {file(""), 0, func(f *edge.Form) bool { return len(f.Files) == 0 }},
		"long field":   {multi(func(m *multipart.Writer) { _ = m.WriteField("a", "01234567890") }), 413, nil},
		"many fields":  {encoded("a=1&b=2&c=3"), 413, nil},
		"bad encoding": {encoded("a=%zz"), 400, nil},
		"cut off":      {func() *http.Request { r := multi(func(*multipart.Writer) {}); r.Body = http.NoBody; return r }(), 0, nil},
		"no form":      {httptest.NewRequest(http.MethodPost, "/", nil), 415, nil},
		"many small parts": {multi(func(m *multipart.Writer) {
			for range 3 {
				_ = m.WriteField("a", "")
			}
		}), 413, nil},
	} {
		t.Run(name, func(t *testing.T) {
			form, err := edge.ReadForm(c.r, most)
			e, _ := edge.AsError(err)
			switch {
			case c.status == 0 && c.check != nil && (err != nil || !c.check(form)):
				t.Errorf("%+v %v", form, err)
			case c.status != 0 && (e == nil || e.Status != c.status):
				t.Errorf("error %v, want status %d", err, c.status)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	w := httptest.NewRecorder()
	s := edge.NewEvents(w)
	for _, data := range []any{"two\r\nlines\rand\na third", map[string]int{"n": 1}} {
		if err := s.Send("tick\nid: 9", data); err != nil {
			t.Fatal(err)
		}
	}
	want := "event: tick id: 9\ndata: two\ndata: lines\ndata: and\ndata: a third\n\nevent: tick id: 9\ndata: {\"n\":1}\n\n"
	if w.Body.String() != want || !w.Flushed {
		t.Errorf("%q, want %q", w.Body, want)
	}
}

func TestCORS(t *testing.T) {
	f := edgetest.New(t, edge.Func{Handler: edge.CORS(func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
		return edge.WriteJSON(w, http.StatusOK, "ok")
	})})
	for method, status := range map[string]int{http.MethodOptions: 204, http.MethodGet: 200} {
		w := f.Call(method, "/", "")
		if w.Code != status || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
	}
}

func TestEnvGet(t *testing.T) {
	env := edgetest.New(t, edge.Func{}).NewEnv()
	for name, want := range map[string]string{"SB_EXECUTION_ID": env.ExecutionID, "SB_REGION": "local"} {
		if got := env.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
