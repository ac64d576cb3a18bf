package session

import (
	"bytes"
	"testing"

	"github.com/google/uuid"
)

// FuzzRefreshToken checks that a parsed signed token encodes to the same text, and that it is
// authentic for its own key only.
func FuzzRefreshToken(f *testing.F) {
	key, other := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	for _, counter := range []int64{0, 1, 127, 128, 1 << 40} {
		f.Add(signedToken{Session: uuid.MustParse("6f1f3b0e-5f57-4c11-9d5c-0b7d0d7d8f11"),
			Counter: counter}.encode(key))
	}
	f.Add("abcdefghijkl")
	f.Add("")
	f.Add("AAAA====")
	f.Fuzz(func(t *testing.T, text string) {
		if isLegacyToken(text) && len(text) != legacyTokenLength {
			t.Fatalf("%q is taken for a stored token", text)
		}
		token, err := parseSignedToken(text)
		if err != nil {
			return
		}
		if token.authentic(other) {
			t.Fatalf("%q is authentic for another key", text)
		}
		if token.authentic(key) && token.encode(key) != text {
			t.Fatalf("%q encodes to %q", text, token.encode(key))
		}
	})
}
