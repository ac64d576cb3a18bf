package auth

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"

	"daawo/supabase/internal/base/keys"
)

// TestPasswordRules checks the requirements for new passwords, and that the reply names every
// reason for a rejection.
func TestPasswordRules(t *testing.T) {
	list := filepath.Join(t.TempDir(), "leaked")
	line := fmt.Sprintf("%X:3\n", sha1.Sum([]byte("letmein-1")))
	if err := os.WriteFile(list, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(o *Options) {
		o.Config.MinimumPasswordLength, o.Config.RequiredCharacters, o.Config.LeakedPasswords = 8,
			[]string{"abcdefghijklmnopqrstuvwxyz", "0123456789"}, list
	})
	for password, want := range map[string][]any{
		"short-1":      {"length"},
		"only-letters": {"characters"},
		"LONG":         {"length", "characters"},
		"letmein-1":    {"pwned"},
	} {
		r := w.post("/signup", m{"email": "a@example.org", "password": password}).want(422, "weak_password")
		if got := r.at("weak_password.reasons").([]any); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", password, got, want)
		}
	}
	token := w.post("/signup", m{"email": "a@example.org", "password": "good-enough-1"}).want(200).text("access_token")
	w.do("PUT", "/user", token, m{"password": "letmein-1"}).want(422, "weak_password")
	w.do("POST", "/admin/generate_link", w.admin(),
		m{"type": "signup", "email": "b@example.org", "password": "letmein-1"}).want(422, "weak_password")
	_, err := New(Options{Keys: ring{keys.Secret("", testSecret), nil},
		Config: Config{LeakedPasswords: list + "-that-is-missing"}})
	if err == nil {
		t.Error("New accepts a missing list of leaked passwords")
	}
}

// TestImportedPasswords checks that users can sign in with imported hashes, and that malformed
// hashes are rejected.
func TestImportedPasswords(t *testing.T) {
	w := newWorld(t)
	b64 := base64.RawStdEncoding.EncodeToString
	salt := []byte("salt-of-sixteen!")
	blowfish, err := bcrypt.GenerateFromPassword([]byte("password-1"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	for name, hash := range map[string]string{
		"bcrypt": string(blowfish),
		"argon2id": "$argon2id$v=19$m=64,t=1,p=1$" + b64(salt) + "$" +
			b64(argon2.IDKey([]byte("password-1"), salt, 1, 64, 1, 32)),
		"argon2i": "$argon2i$v=19$m=64,t=3,p=1$" + b64(salt) + "$" +
			b64(argon2.Key([]byte("password-1"), salt, 3, 64, 1, 32)),
	} {
		email := name + "@example.org"
		w.do("POST", "/admin/users", w.admin(),
			m{"email": email, "password_hash": hash, "email_confirm": true}).want(200)
		w.signIn(email, "password-2").want(400, "invalid_credentials")
		w.signIn(email, "password-1").want(200)
	}
	w.do("POST", "/admin/users", w.admin(), m{"email": "x@example.org", "password_hash": "md5:0"}).want(500)
	w.do("POST", "/admin/users", w.admin(),
		m{"email": "x@example.org", "password_hash": "$2a$04$x", "password": "y"}).want(400, "validation_failed")
}

// TestLeakedOnline checks that the service gets five digits of the hash, that padding does not
// count, and what happens while it does not reply.
func TestLeakedOnline(t *testing.T) {
	sum := fmt.Sprintf("%X", sha1.Sum([]byte("letmein-1")))
	padding := fmt.Sprintf("%X", sha1.Sum([]byte("good-enough-1")))
	broken := false
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.URL.Path) != len("/range/")+5 || r.Header.Get("Add-Padding") != "true" || r.UserAgent() != "test" {
			t.Errorf("%s as %s", r.URL.Path, r.UserAgent())
		}
		if broken {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = fmt.Fprintf(w, "%s:0\r\n%s:7\r\n", padding[5:], sum[5:])
	}))
	defer service.Close()
	w := newWorld(t, func(o *Options) {
		o.Config.LeakedOnline = LeakedOnline{Enabled: true, UserAgent: "test", URL: service.URL + "/range/"}
	})
	signUp := func(name, password string) reply {
		return w.post("/signup", m{"email": name + "@example.org", "password": password})
	}
	signUp("a", "letmein-1").want(422, "weak_password")
	signUp("a", "good-enough-1").want(200)
	broken = true
	signUp("b", "letmein-1").want(200)
	w.restart(func(o *Options) { o.Config.LeakedOnline.FailClosed = true })
	signUp("c", "good-enough-1").want(500, "unexpected_failure")
}
