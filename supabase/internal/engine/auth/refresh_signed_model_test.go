package auth

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestSignedRefreshModel compares refreshes with random signed tokens of a session at random times
// with a model of the counter.
func TestSignedRefreshModel(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Config.SignedRefreshTokens = true })
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		s := w.signUp(fmt.Sprintf("s%d@example.org", n))
		tokens := []string{s.text("refresh_token")} // by counter; the last one is the current one
		used := w.now()
		ended := false
		rt.Repeat(map[string]func(*rapid.T){
			"wait": func(rt *rapid.T) {
				w.wait(time.Duration(rapid.IntRange(1, 15).Draw(rt,
					"seconds")) * time.Second)
			},
			"forge": func(rt *rapid.T) {
				forged := []byte(tokens[len(tokens)-1])
				at := rapid.IntRange(0, len(forged)-1).Draw(rt, "byte")
				forged[at] = map[bool]byte{true: 'B', false: 'A'}[forged[at] == 'A']
				if r := w.refresh(string(forged)); r.status != 400 {
					rt.Fatalf("a forged token got %d %s", r.status, r.raw)
				}
			},
			"refresh": func(rt *rapid.T) {
				i := rapid.IntRange(0, len(tokens)-1).Draw(rt, "token")
				behind := len(tokens) - 1 - i
				r := w.refresh(tokens[i])
				switch {
				case ended:
					if r.status != 400 || r.text("error_code") != "refresh_token_not_found" {
						rt.Fatalf("an ended session got %d %s", r.status, r.raw)
					}
					return
				case behind == 0:
					if r.status != 200 || r.text("refresh_token") == tokens[i] {
						rt.Fatalf("the current token got %d %s", r.status, r.raw)
					}
					tokens = append(tokens, r.text("refresh_token"))
				case behind == 1 || w.now().Sub(used) < 10*time.Second:
					if r.status != 200 || r.text("refresh_token") != tokens[len(tokens)-1] {
						rt.Fatalf("a token %d behind got %d %s", behind, r.status, r.raw)
					}
				default:
					if r.status != 400 || r.text("error_code") != "refresh_token_already_used" {
						rt.Fatalf("an old token got %d %s", r.status, r.raw)
					}
					ended = true
					return
				}
				used = w.now()
			},
		})
	})
}
