package gotrue

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/internal/base/keys"
)

// standIn is a proxy that plays every provider: whatever host a server connects to, it replies with
// the page of the current scene. Servers reach it by HTTPS_PROXY and trust the file CA.
type standIn struct {
	*httptest.Server
	CA string // path of its certificate

	authority tls.Certificate
	key       keys.Key // signs ID tokens

	mu     sync.Mutex
	scene  scene
	broken string   // host and path of the page that replies with an error
	asked  []string // documents that were asked for
}

// scene is what the providers say while one user signs in.
type scene struct {
	Token  string         // host and path that exchanges codes
	Reply  map[string]any // more members of its reply
	Pages  map[string]any // documents by host and path
	Claims map[string]any // of the ID token
}

func newStandIn(t *testing.T) *standIn {
	t.Helper()
	key, err := keys.GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	s := &standIn{key: key, CA: filepath.Join(t.TempDir(), "ca.pem")}
	s.authority = s.certify(t, "", nil)
	file := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.authority.Certificate[0]})
	if err := os.WriteFile(s.CA, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			t.Errorf("%s %s without TLS", r.Method, r.URL)
			return
		}
		s.tunnel(t, w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// certify returns a certificate for a host; without a host, one of the authority.
func (s *standIn) certify(t *testing.T, host string, issuer *tls.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotAfter: time.Now().Add(time.Hour),
		Subject: pkix.Name{CommonName: "stand-in " + host}, BasicConstraintsValid: true, IsCA: host == ""}
	parent, by := template, any(key)
	if host != "" {
		template.DNSNames, by = []string{host}, issuer.PrivateKey
		if parent, err = x509.ParseCertificate(issuer.Certificate[0]); err != nil {
			t.Fatal(err)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// tunnel serves one connection of a proxy's client.
func (s *standIn) tunnel(t *testing.T, w http.ResponseWriter, r *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	host, _, _ := net.SplitHostPort(r.Host)
	if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\n")); err != nil {
		return
	}
	certificate := s.certify(t, host, &s.authority)
	server := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}})
	for in := bufio.NewReader(server); ; {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		rec := httptest.NewRecorder()
		s.reply(t, rec, request)
		reply := rec.Result()
		reply.ContentLength = int64(rec.Body.Len())
		if reply.Write(server) != nil {
			return
		}
	}
}

// play begins a scene; the page broken replies with an error.
func (s *standIn) play(next scene, broken string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scene, s.broken, s.asked = next, broken, nil
}

// documents returns which documents were asked for, sorted.
func (s *standIn) documents() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.asked))
}

func (s *standIn) reply(t *testing.T, w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	place := r.Host + r.URL.Path
	send := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	issuer, discovery := strings.CutSuffix(place, "/.well-known/openid-configuration")
	page, known := s.scene.Pages[place]
	switch {
	case place == s.broken:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
	case strings.HasSuffix(place, "/stand-in-keys"):
		_, _ = w.Write(keys.JWKS([]keys.Key{s.key}))
	case discovery:
		at := "https://" + issuer
		send(map[string]any{"issuer": strings.Replace(at, "/common/", "/{tenantid}/", 1),
			"authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token",
			"jwks_uri":                              "https://" + r.Host + "/stand-in-keys",
			"id_token_signing_alg_values_supported": []string{"ES256"}})
	case strings.HasSuffix(place, "/oauth/request_token"):
		_, _ = w.Write([]byte("oauth_token=request-1&oauth_token_secret=s&oauth_callback_confirmed=true"))
	case place == s.scene.Token && strings.HasPrefix(r.Header.Get("Authorization"), "OAuth "):
		_, _ = w.Write([]byte("oauth_token=access-1&oauth_token_secret=s"))
	case place == s.scene.Token:
		out := map[string]any{"access_token": "access-1", "refresh_token": "refresh-1", "token_type": "bearer"}
		maps.Copy(out, s.scene.Reply)
		if s.scene.Claims != nil && s.scene.Pages == nil {
			out["id_token"] = s.idToken(t, s.scene.Claims)
		}
		send(out)
	case known:
		s.asked = append(s.asked, documentRequest(r))
		send(page)
	default:
		t.Errorf("nothing is at %s %s", r.Method, place)
		w.WriteHeader(http.StatusNotFound)
	}
}

// documentRequest describes a request for a document: its parameters, and the headers that
// providers ask for.
func documentRequest(r *http.Request) string {
	out := r.Host + r.URL.Path
	if q := r.URL.Query(); len(q) > 0 {
		if q.Has("appsecret_proof") {
			q.Set("appsecret_proof", "proof")
		}
		out += "?" + q.Encode()
	}
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if kind == "Bearer" {
		kind += " " + token
	}
	for _, name := range []string{"Client-Id", "Notion-Version"} {
		if v := r.Header.Get(name); v != "" {
			kind += "; " + name + " " + v
		}
	}
	return out + " (" + kind + ")"
}

// idToken signs an ID token of the client "client".
func (s *standIn) idToken(t *testing.T, claims map[string]any) string {
	c := map[string]any{"aud": "client", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(c, claims)
	text, err := json.Marshal(c)
	if err != nil {
		t.Error(err)
	}
	token, err := s.key.Sign(text)
	if err != nil {
		t.Error(err)
	}
	return token
}
