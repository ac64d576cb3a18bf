package server

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// scramIterations is Postgres' own default (scram_iterations).
const scramIterations = 4096

// scramSecret returns the value that Postgres stores for a password, in the
// form of RFC 5803: SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>.
// The passwords are ASCII, so SASLprep would not change them.
func scramSecret(password string) (string, error) {
	salt := make([]byte, 16)
	rand.Read(salt)
	return scramWith(password, salt, scramIterations)
}

func scramWith(password string, salt []byte, iterations int) (string, error) {
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	stored := sha256.Sum256(mac(salted, "Client Key"))
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, b64(salt), b64(stored[:]),
		b64(mac(salted, "Server Key"))), nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// scramMatches reports whether a stored secret was made from the password.
func scramMatches(secret, password string) bool {
	parts := strings.Split(secret, "$")
	if len(parts) != 3 || parts[0] != "SCRAM-SHA-256" {
		return false
	}
	count, salt64, _ := strings.Cut(parts[1], ":")
	iterations, err := strconv.Atoi(count)
	salt, err2 := base64.StdEncoding.DecodeString(salt64)
	if err != nil || err2 != nil || iterations < 1 {
		return false
	}
	again, err := scramWith(password, salt, iterations)
	return err == nil && subtle.ConstantTimeCompare([]byte(again), []byte(secret)) == 1
}
