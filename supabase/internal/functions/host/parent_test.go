package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"testing"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/keys"
)

// newParent returns the parent at an address.
func newParent(t testing.TB, address string, log *slog.Logger) *Parent {
	t.Helper()
	p, err := NewParent(address, log)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// parentOf returns the address of a parent with some operations, which only the function hello may
// run, and a CleanImage that reads only "picture".
func parentOf(t testing.TB) (address string) {
	t.Helper()
	host := hosting(t, nil, func(o *Options) {
		o.Operators = []string{"hello"}
		o.Operations = map[string]func(context.Context) (any, error){
			"version": func(context.Context) (any, error) { return map[string]string{"name": "1.0"}, nil },
			"backup":  func(context.Context) (any, error) { return nil, errors.New("the disk is full") },
			"refuse": func(context.Context) (any, error) {
				return nil, edge.Errorf(http.StatusConflict, "busy", "A backup runs.")
			},
		}
		o.CleanImage = func(content []byte) ([]byte, string, bool) {
			return []byte("clean"), "image/png", bytes.Equal(content, []byte("picture"))
		}
	})
	s := NewParentServer(host)
	address, err := s.Address()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return address
}

// notGranted is the error of a function that is not among Options.Operators.
const notGranted = `403 not_granted: The function %q may not run operations of the stack: ` +
	`name it in stack.Options.Administration.Operators.`

// TestOperate checks that only functions of Options.Operators run operations.
func TestOperate(t *testing.T) {
	h := hosting(t, nil, func(o *Options) {
		o.Operators = []string{"hello"}
		o.Operations = map[string]func(context.Context) (any, error){
			"version": func(context.Context) (any, error) { return "1.0", nil }}
	})
	for function, want := range map[string]string{"hello": "", "other": fmt.Sprintf(notGranted, "other"),
		"": fmt.Sprintf(notGranted, "")} {
		result, err := edge.NewEnv(h.Services(), edge.Env{Function: function}, "").Operate(t.Context(), "version")
		if want == "" && (err != nil || string(result) != `"1.0"`) || want != "" &&
			(err == nil || err.Error() != want) {
			t.Errorf("%q: %s %v, want %q", function, result, err, want)
		}
	}
}

// TestParent checks that a process of functions gets the same results from its parent as functions
// in the stack's program.
func TestParent(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	child := hosting(t, nil, func(o *Options) { o.Parent = newParent(t, parentOf(t), logger) }).services
	for name, want := range map[string]string{
		"version": `{"name":"1.0"}`,
		"backup":  "the disk is full",
		"refuse":  "409 busy: A backup runs.",
		"absent":  `404 unknown_operation: There is no operation "absent".`,
		"../a?b":  `404 unknown_operation: There is no operation "../a?b".`,
	} {
		result, err := child.Operate(t.Context(), "hello", name)
		got := string(bytes.TrimSpace(result))
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if known := new(edge.Error); errors.As(err, &known) != (name != "version" && name != "backup") {
			t.Errorf("%s: %T", name, err)
		}
	}
	if _, err := child.Operate(t.Context(), "a&b", "version"); err == nil ||
		err.Error() != fmt.Sprintf(notGranted, "a&b") {
		t.Errorf("without a grant: %v", err)
	}
	if clean, contentType, ok := child.CleanImage([]byte("picture")); string(clean) != "clean" ||
		contentType != "image/png" || !ok {
		t.Errorf("%s %s %v", clean, contentType, ok)
	}
	if _, _, ok := child.CleanImage([]byte("text")); ok || log.Len() > 0 {
		t.Errorf("a text is a picture: %v %s", ok, &log)
	}
}

// TestParentVerifies checks that a process without keys gets the claims of a token that is signed
// with the secret of its parent, and of no other.
func TestParentVerifies(t *testing.T) {
	secret := keys.Secret("", "a secret that is long enough for it")
	own := keys.NewVerifier(keys.Options{}, secret)
	server := NewParentServer(hosting(t, nil, func(o *Options) {
		o.Verify = func(token string) (json.RawMessage, error) {
			claims, err := own.Verify(token)
			if err != nil {
				return nil, err
			}
			return claims.Raw, nil
		}
	}))
	address, err := server.Address()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close(context.Background())
	parent := newParent(t, address, slog.New(slog.DiscardHandler))
	for key, want := range map[*keys.Key]bool{&secret: true, new(keys.Secret("", "another secret of that length....")): false} {
		token, err := key.Sign([]byte(`{"role":"anon","exp":4102444800}`))
		if err != nil {
			t.Fatal(err)
		}
		claims, err := parent.Verify(token, keys.NewVerifier(keys.Options{}))
		if (err == nil) != want || want && !bytes.Contains(claims, []byte(`"anon"`)) {
			t.Errorf("%s, %v", claims, err)
		}
	}
}

// TestParentRefusesOtherPrograms checks that programs of this machine need the password.
func TestParentRefusesOtherPrograms(t *testing.T) {
	address, err := url.Parse(parentOf(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []*url.Userinfo{nil, url.UserPassword("functions", "guess")} {
		address.User = user
		res, err := http.Post(address.String()+"/operations/version?function=hello", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%v: %s", user, res.Status)
		}
	}
}

// TestParentAbsent checks that a process whose parent has no address, such as one of an older
// release, gets errors.
func TestParentAbsent(t *testing.T) {
	var log bytes.Buffer
	parent := newParent(t, "", slog.New(slog.NewTextHandler(&log, nil)))
	if _, err := parent.Operate(t.Context(), "hello", "version"); err == nil {
		t.Error("an operation without a parent")
	}
	if _, _, ok := parent.CleanImage([]byte("picture")); ok ||
		!bytes.Contains(log.Bytes(), []byte("picture not cleaned")) {
		t.Errorf("cleaned without a parent: %v %s", ok, &log)
	}
}
