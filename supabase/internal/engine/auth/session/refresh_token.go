package session

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// There are two forms of refresh tokens of different length: twelve random characters that are
// stored in auth.refresh_tokens, and a signed message with the session and the number of refreshes.

const legacyTokenLength = 12

// newLegacyToken returns twelve random characters of a–z and 2–7: 60 bits.
func newLegacyToken() string {
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	raw := make([]byte, legacyTokenLength)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	for i, b := range raw {
		raw[i] = letters[b%32]
	}
	return string(raw)
}

// newTokenKey returns a random key for a session's tokens.
func newTokenKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return key
}

// newSignedToken stores a new key of the session and returns its first token. Tokens of an earlier
// key become invalid.
func newSignedToken(ctx context.Context, tx pgx.Tx, session uuid.UUID) (string, error) {
	key := newTokenKey()
	_, err := tx.Exec(ctx, `update auth.sessions set refresh_token_hmac_key = $2, refresh_token_counter = 0
		where id = $1`,
		session, base64.RawURLEncoding.EncodeToString(key))
	return signedToken{Session: session}.encode(key), err
}

// isLegacyToken reports whether text has the first form.
func isLegacyToken(text string) bool {
	if len(text) != legacyTokenLength {
		return false
	}
	for _, c := range text {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// signedToken is the second form: a version byte, the session, a varint counter, the first 16 bytes
// of their HMAC-SHA-256 with the key of the session, and 4 bytes of SHA-256 over all that, which
// detect typing errors.
type signedToken struct {
	Session uuid.UUID
	Counter int64
	message []byte
	mac     []byte
}

const (
	macLength      = 16
	checksumLength = 4
)

var errTokenForm = errors.New("not a refresh token")

func (t signedToken) encode(key []byte) string {
	message := append([]byte{0}, t.Session[:]...)
	message = binary.AppendUvarint(message, uint64(max(t.Counter, 0)))
	out := append(message, tokenMAC(key, message)...)
	sum := sha256.Sum256(out)
	return base64.RawURLEncoding.EncodeToString(append(out, sum[:checksumLength]...))
}

func tokenMAC(key, message []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(message)
	return h.Sum(nil)[:macLength]
}

// parseSignedToken decodes the second form, without checking the signature.
func parseSignedToken(text string) (signedToken, error) {
	// The decoder skips line breaks, even a strict one, but a token has only one text.
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") || len(raw) < 1+16+1+macLength+checksumLength || raw[0] != 0 {
		return signedToken{}, errTokenForm
	}
	body, checksum := raw[:len(raw)-checksumLength], raw[len(raw)-checksumLength:]
	sum := sha256.Sum256(body)
	if subtle.ConstantTimeCompare(sum[:checksumLength], checksum) != 1 {
		return signedToken{}, errTokenForm
	}
	t := signedToken{message: body[:len(body)-macLength], mac: body[len(body)-macLength:]}
	copy(t.Session[:], t.message[1:17])
	counter, n := binary.Uvarint(t.message[17:])
	if n != len(t.message)-17 || counter > 1<<62 {
		return signedToken{}, errTokenForm
	}
	t.Counter = int64(counter)
	return t, nil
}

// authentic reports whether the session's key signed the token.
func (t signedToken) authentic(key []byte) bool { return hmac.Equal(tokenMAC(key, t.message), t.mac) }
