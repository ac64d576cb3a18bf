package sms

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/edge"
)

// tolerance is how old or how new a signed call may be.
const tolerance = 5 * time.Minute

// secrets returns the keys of SEND_SMS_HOOK_SECRETS: "v1,whsec_…", several with "|" between them.
func secrets(env *edge.Env) ([][]byte, error) {
	var keys [][]byte
	for text := range strings.SplitSeq(env.Get("SEND_SMS_HOOK_SECRETS"), "|") {
		encoded, ok := strings.CutPrefix(strings.TrimSpace(text), "v1,whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(key) == 0 {
			return nil, errors.New("SEND_SMS_HOOK_SECRETS: a secret is not v1,whsec_ and base64")
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// verify checks the signature of a call (Standard Webhooks): HMAC-SHA-256 over id, time and body.
func verify(h http.Header, body []byte, keys [][]byte, now time.Time) error {
	id, stamp := h.Get("webhook-id"), h.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || id == "" {
		return errors.New("webhook-id or webhook-timestamp is missing")
	}
	if now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return errors.New("webhook-timestamp is too old or too new")
	}
	// Auth separates signatures by a comma and a space, the standard by a space.
	for signature := range strings.FieldsSeq(strings.ReplaceAll(h.Get("webhook-signature"), ", ", " ")) {
		encoded, _ := strings.CutPrefix(signature, "v1,")
		given, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			continue
		}
		for _, key := range keys {
			mac := hmac.New(sha256.New, key)
			fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
			if hmac.Equal(given, mac.Sum(nil)) {
				return nil
			}
		}
	}
	return errors.New("no signature is valid")
}
