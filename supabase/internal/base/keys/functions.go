package keys

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// FunctionsSecret returns the secret key of functions in processes of their own. It is Secret's
// equal, except that /pg, whose statements run as postgres, refuses it.
func (s Set) FunctionsSecret() string {
	if s.JWTSecret == "" {
		return "" // nothing to derive it from
	}
	sum := hmac.New(sha256.New, []byte(s.JWTSecret+s.Secret))
	sum.Write([]byte("secret key of functions"))
	return "sb_secret_" + base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

// FunctionsServiceRole returns the legacy service key of those functions, a token with the claims
// of ServiceRole and one of its own. /pg refuses it, too.
func (s Set) FunctionsServiceRole() string {
	if s.JWTSecret == "" {
		return ""
	}
	claims := map[string]any{}
	if parts := strings.Split(s.ServiceRole, "."); len(parts) == 3 {
		payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
		_ = json.Unmarshal(payload, &claims) // a key that is no token has no claims
	}
	claims["role"], claims["functions"] = RoleService, true
	payload, _ := json.Marshal(claims)                // they are from JSON
	token, _ := Secret("", s.JWTSecret).Sign(payload) // a secret can always sign
	return token
}

// OfFunctions reports whether an API key is one of functions in processes of their own.
func (s Set) OfFunctions(apikey string) bool {
	own := s.FunctionsSecret()
	if strings.Count(apikey, ".") == 2 {
		own = s.FunctionsServiceRole()
	}
	return own != "" && subtle.ConstantTimeCompare([]byte(apikey), []byte(own)) == 1
}
