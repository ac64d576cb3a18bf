package objects

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Scopes of a signed URL: a link that lets one read never lets one write.
const (
	ScopeDownload = "download"
	ScopeUpload   = "upload"
)

// SignedURL is the payload of a signed URL's token. URL is bucket/name.
type SignedURL struct {
	URL             string  `json:"url"`
	Scope           string  `json:"scope,omitempty"`
	Transformations string  `json:"transformations,omitempty"`
	Format          string  `json:"format,omitempty"`
	Owner           string  `json:"owner,omitempty"`
	Upsert          *bool   `json:"upsert,omitempty"`
	IssuedAt        int64   `json:"iat"`
	Expires         float64 `json:"exp"`
}

// Sign gives the token for a URL that is good for seconds from now.
func (s *Store) Sign(u SignedURL, seconds int64) (string, error) {
	u.IssuedAt = s.now().Unix()
	u.Expires = float64(u.IssuedAt + seconds)
	payload, err := json.Marshal(u)
	if err != nil {
		return "", err
	}
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + enc.EncodeToString(payload)
	return text + "." + enc.EncodeToString(mac((*s.secrets.Load())[0], text)), nil
}

// SetSecrets replaces what signs URLs. What the others signed is still accepted.
func (s *Store) SetSecrets(signing []byte, others ...[]byte) {
	all := append([][]byte{signing}, others...)
	s.secrets.Store(&all)
}

func mac(secret []byte, text string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// signedByUs compares with every secret, whichever fits.
func (s *Store) signedByUs(signature []byte, text string) bool {
	ok := false
	for _, secret := range *s.secrets.Load() {
		ok = hmac.Equal(signature, mac(secret, text)) || ok
	}
	return ok
}

// VerifySigned checks that token was signed by Sign for this object and scope and has not expired.
func (s *Store) VerifySigned(token, bucket, name, scope string) (*SignedURL, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, ErrInvalidJWT("Invalid Compact JWS")
	}
	enc := base64.RawURLEncoding.Strict()
	header, err := enc.DecodeString(parts[0])
	var alg struct {
		Alg string `json:"alg"`
	}
	if err != nil || json.Unmarshal(header, &alg) != nil {
		return nil, ErrInvalidJWT("JWS Protected Header is invalid")
	}
	if alg.Alg != "HS256" {
		return nil, ErrInvalidJWT(`"alg" (Algorithm) Header Parameter value not allowed`)
	}
	signature, err := enc.DecodeString(parts[2])
	if err != nil || !s.signedByUs(signature, parts[0]+"."+parts[1]) {
		return nil, ErrInvalidJWT("signature verification failed")
	}
	payload, err := enc.DecodeString(parts[1])
	var u SignedURL
	if err != nil || json.Unmarshal(payload, &u) != nil {
		return nil, ErrInvalidJWT("JWT Claims Set must be a top-level JSON object")
	}
	if u.Expires <= float64(s.now().Unix()) {
		return nil, ErrInvalidJWT(`"exp" claim timestamp check failed`)
	}
	// Tokens older than scopes: only those for uploads had the claim upsert.
	upload := u.Scope == ScopeUpload || u.Scope == "" && u.Upsert != nil
	download := u.Scope == ScopeDownload || u.Scope == "" && u.Upsert == nil
	if scope == ScopeUpload && !upload || scope == ScopeDownload && !download {
		return nil, ErrInvalidSignature("Token is not scoped for " + scope)
	}
	if u.URL != bucket+"/"+name {
		return nil, ErrInvalidSignature("Invalid signature")
	}
	return &u, nil
}
