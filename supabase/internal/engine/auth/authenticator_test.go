package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// authenticator is a security key in software (WebAuthn, section 6), with one P-256 credential and
// a signature counter.
type authenticator struct {
	t       testing.TB
	origin  string // the origin in the client data
	rpID    string
	private *ecdsa.PrivateKey
	id      []byte
	handle  string // user handle, set by create
	count   uint32
}

func newAuthenticator(t testing.TB, rpID, origin string) *authenticator {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails (crypto/rand)
	return &authenticator{t: t, origin: origin, rpID: rpID, private: private, id: id}
}

var base64url = base64.RawURLEncoding.EncodeToString

// clientData returns the client data that a browser adds: type, challenge and origin.
func (a *authenticator) clientData(kind string, options m) []byte {
	a.t.Helper()
	challenge, ok := options["challenge"].(string)
	if !ok {
		a.t.Fatalf("no challenge in %v", options)
	}
	text, err := json.Marshal(m{"type": kind, "challenge": challenge, "origin": a.origin, "crossOrigin": false})
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}

// data returns the authenticator data, which is signed: hash of the relying party's ID, flags,
// counter and credential.
func (a *authenticator) data(flags byte, credential []byte) []byte {
	a.count++
	site := sha256.Sum256([]byte(a.rpID))
	out := append(site[:], flags)
	return append(binary.BigEndian.AppendUint32(out, a.count), credential...)
}

const present, verified, attested = 0x01, 0x04, 0x40

// create returns the result of navigator.credentials.create for the options in publicKey.
func (a *authenticator) create(publicKey any) m {
	a.t.Helper()
	options := publicKey.(m)
	a.handle = options["user"].(m)["id"].(string)
	point, err := a.private.PublicKey.Bytes()
	if err != nil {
		a.t.Fatal(err)
	}
	key, err := webauthncbor.Marshal(webauthncose.EC2PublicKeyData{
		PublicKeyData: webauthncose.PublicKeyData{KeyType: int64(webauthncose.EllipticKey),
			Algorithm: int64(webauthncose.AlgES256)},
		Curve: int64(webauthncose.P256), XCoord: point[1:33], YCoord: point[33:],
	})
	if err != nil {
		a.t.Fatal(err)
	}
	credential := make([]byte, 16) // an AAGUID of zeros: unknown model
	credential = binary.BigEndian.AppendUint16(credential, uint16(len(a.id)))
	credential = append(append(credential, a.id...), key...)
	object, err := webauthncbor.Marshal(map[string]any{
		"fmt": "none", "attStmt": map[string]any{}, "authData": a.data(present|verified|attested, credential),
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return m{"id": base64url(a.id), "rawId": base64url(a.id), "type": "public-key", "response": m{
		"clientDataJSON": base64url(a.clientData("webauthn.create", options)), "attestationObject": base64url(object),
	}}
}

// get returns the result of navigator.credentials.get for the options in publicKey.
func (a *authenticator) get(publicKey any) m {
	a.t.Helper()
	client, data := a.clientData("webauthn.get", publicKey.(m)), a.data(present|verified, nil)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.private, digest[:])
	if err != nil {
		a.t.Fatal(err)
	}
	return m{"id": base64url(a.id), "rawId": base64url(a.id), "type": "public-key", "response": m{
		"clientDataJSON": base64url(client), "authenticatorData": base64url(data), "signature": base64url(signature),
		"userHandle": a.handle,
	}}
}
