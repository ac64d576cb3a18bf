package objects

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync/atomic"
	"time"
)

// Scopes of a signed URL: a download URL never permits an upload.
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
	NotBefore       float64 `json:"nbf,omitempty"`
}

// Signer signs URLs and verifies them. Its methods may be called from many goroutines.
type Signer struct {
	now     func() time.Time
	secrets atomic.Pointer[[][]byte] // the first signs, all verify
}

// Sign returns the token of a URL that is valid for the given number of seconds.
func (s *Signer) Sign(u SignedURL, seconds int64) (string, error) {
	u.IssuedAt = s.now().Unix()
	u.Expires = float64(u.IssuedAt + seconds)
	payload, err := json.Marshal(u)
	if err != nil {
		return "", err
	}
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + enc.EncodeToString(payload)
	return text + "." + enc.EncodeToString(s.mac(text)), nil
}

// SetSecrets replaces the signing secret. URLs signed with one of the others stay valid.
func (s *Signer) SetSecrets(signing []byte, others ...[]byte) {
	all := append([][]byte{signing}, others...)
	s.secrets.Store(&all)
}

// mac returns the MAC of text with the signing secret.
func (s *Signer) mac(text string) []byte { return mac((*s.secrets.Load())[0], text) }

func mac(secret []byte, text string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// matches reports whether signature is the MAC of text with any secret. It compares with all of
// them, in constant time.
func (s *Signer) matches(signature []byte, text string) bool {
	ok := false
	for _, secret := range *s.secrets.Load() {
		ok = hmac.Equal(signature, mac(secret, text)) || ok
	}
	return ok
}

// Verify checks that Sign made the token for this object and scope and that it has not expired.
func (s *Signer) Verify(token, bucket, name, scope string) (*SignedURL, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errInvalidJWT("Invalid Compact JWS")
	}
	enc := base64.RawURLEncoding.Strict()
	header, err := enc.DecodeString(parts[0])
	var alg struct {
		Alg string `json:"alg"`
	}
	if err != nil || json.Unmarshal(header, &alg) != nil {
		return nil, errInvalidJWT("JWS Protected Header is invalid")
	}
	if alg.Alg != "HS256" {
		return nil, errInvalidJWT(`"alg" (Algorithm) Header Parameter value not allowed`)
	}
	signature, err := enc.DecodeString(parts[2])
	if err != nil || !s.matches(signature, parts[0]+"."+parts[1]) {
		return nil, errInvalidJWT("signature verification failed")
	}
	payload, err := enc.DecodeString(parts[1])
	var u SignedURL
	if err != nil || json.Unmarshal(payload, &u) != nil {
		return nil, errInvalidJWT("JWT Claims Set must be a top-level JSON object")
	}
	if u.NotBefore > float64(s.now().Unix()) {
		return nil, errInvalidJWT(`"nbf" claim timestamp check failed`)
	}
	if u.Expires <= float64(s.now().Unix()) {
		return nil, errInvalidJWT(`"exp" claim timestamp check failed`)
	}
	// Tokens from before scopes existed: only upload tokens had the claim upsert.
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
