package auth

import (
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"daawo/supabase/internal/engine/auth/credential"
	"daawo/supabase/internal/engine/auth/store"
)

// The benchmarks run in one process on one database, so that their results can be compared.
// BenchmarkSQL is the lower bound: one query that reads a user.

func benchWorld(b *testing.B) (*world, reply) {
	w := newWorld(b)
	return w, w.signUp("a@example.org")
}

func BenchmarkSQL(b *testing.B) {
	w, s := benchWorld(b)
	for b.Loop() {
		if _, err := store.UserByID(b.Context(), w.pool.Pgx(), mustUUID(b, s.text("user.id"))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGetUser(b *testing.B) {
	w, s := benchWorld(b)
	token := s.text("access_token")
	for b.Loop() {
		r := httptest.NewRequest("GET", "/user", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		rec := httptest.NewRecorder()
		w.e.ServeHTTP(rec, r)
		if rec.Code != 200 {
			b.Fatal(rec.Body)
		}
	}
}

func BenchmarkRefresh(b *testing.B) {
	w, s := benchWorld(b)
	token := s.text("refresh_token")
	for b.Loop() {
		token = w.refresh(token).want(200).text("refresh_token")
	}
}

// BenchmarkLogin uses the production cost of bcrypt.
func BenchmarkLogin(b *testing.B) {
	w, _ := benchWorld(b)
	w.restart(func(o *Options) { o.Config.PasswordCost, o.Config.HashesAtOnce = credential.DefaultCost, 2 })
	hash, err := bcrypt.GenerateFromPassword([]byte("password-1"), credential.DefaultCost)
	if err != nil {
		b.Fatal(err)
	}
	w.db.ExecAs("supabase_auth_admin", `update auth.users set encrypted_password = '`+
		strings.ReplaceAll(string(hash), "'", "")+`'`)
	for b.Loop() {
		w.signIn("a@example.org", "password-1").want(200)
	}
}
