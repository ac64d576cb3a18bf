package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/objects"
)

// Signature Version 4 as in the S3 API reference, "Authenticating Requests (AWS Signature Version
// 4)".

const (
	algorithm  = "AWS4-HMAC-SHA256"
	timeLayout = "20060102T150405Z"
	unsigned   = "UNSIGNED-PAYLOAD"
	// maxSkew is the largest accepted difference between the clocks of client and server.
	maxSkew = 15 * time.Minute
	// maxPresign is S3's longest lifetime of a presigned URL.
	maxPresign = 7 * 24 * time.Hour
)

// signature holds the credential and the signature of a request.
type signature struct {
	accessKey, date, region, service string // the credential's scope
	signed                           []string
	value                            string
	at                               time.Time
	payload                          string // hash of the body, or the name of its signing mode
	session                          string // a JWT, in the session-token mode
	query                            bool   // the signature is in the query string
}

func errSignature(message string) error {
	return apierror.Errorf(400, "InvalidSignature", "%s", message)
}

var errMismatch = apierror.Errorf(403, "SignatureDoesNotMatch",
	"The request signature we calculated does not match the signature you provided. Check your key and signing method.")

// readSignature reads the signature from the Authorization header or, without one, from the query
// string.
func readSignature(r *http.Request, now time.Time) (*signature, error) {
	if header := r.Header.Get("Authorization"); strings.HasPrefix(header, algorithm+" ") {
		return headerSignature(r, header, now)
	}
	if q := r.URL.Query(); q.Has("X-Amz-Credential") {
		return querySignature(q, now)
	}
	return nil, objects.ErrDenied("Missing signature")
}

func headerSignature(r *http.Request, header string, now time.Time) (*signature, error) {
	fields := map[string]string{}
	for _, part := range strings.Split(strings.TrimPrefix(header, algorithm+" "), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	s := &signature{value: fields["Signature"], payload: r.Header.Get("X-Amz-Content-Sha256"),
		session: r.Header.Get("X-Amz-Security-Token")}
	date := r.Header.Get("X-Amz-Date")
	if s.value == "" || fields["SignedHeaders"] == "" || fields["Credential"] == "" || date == "" {
		return nil, errSignature("Invalid signature format")
	}
	s.signed = strings.Split(fields["SignedHeaders"], ";")
	if err := s.scope(fields["Credential"], date); err != nil {
		return nil, err
	}
	if skew := now.Sub(s.at); skew > maxSkew || skew < -maxSkew {
		return nil, errSkewed()
	}
	if s.payload == "" {
		s.payload = unsigned
	}
	return s, nil
}

func errSkewed() error {
	return apierror.Errorf(403, "RequestTimeTooSkewed",
		"The difference between the request time and the server's time is too large.")
}

func querySignature(q url.Values, now time.Time) (*signature, error) {
	s := &signature{value: q.Get("X-Amz-Signature"), payload: q.Get("X-Amz-Content-Sha256"),
		session: q.Get("X-Amz-Security-Token"), query: true}
	if s.value == "" || q.Get("X-Amz-SignedHeaders") == "" || q.Get("X-Amz-Date") == "" {
		return nil, errSignature("Invalid signature format")
	}
	s.signed = strings.Split(q.Get("X-Amz-SignedHeaders"), ";")
	if err := s.scope(q.Get("X-Amz-Credential"), q.Get("X-Amz-Date")); err != nil {
		return nil, err
	}
	seconds, err := strconv.ParseInt(q.Get("X-Amz-Expires"), 10, 64)
	if err != nil || seconds < 0 || time.Duration(seconds)*time.Second > maxPresign {
		return nil, errSignature("Invalid expiration")
	}
	if now.After(s.at.Add(time.Duration(seconds) * time.Second)) {
		return nil, apierror.Errorf(400, "ExpiredToken", "The provided token has expired.")
	}
	if now.Before(s.at.Add(-maxSkew)) {
		return nil, errSkewed()
	}
	if s.payload == "" {
		s.payload = unsigned
	}
	return s, nil
}

// scope parses the credential and the date.
func (s *signature) scope(credential, date string) error {
	parts := strings.Split(credential, "/")
	if len(parts) != 5 || parts[4] != "aws4_request" {
		return errSignature("Invalid credentials")
	}
	s.accessKey, s.date, s.region, s.service = parts[0], parts[1], parts[2], parts[3]
	at, err := time.Parse(timeLayout, date)
	if err != nil || at.Format("20060102") != s.date {
		return errSignature("Invalid signature format")
	}
	s.at = at
	return nil
}

// key derives the signing key.
func (s *signature) key(secret string) []byte {
	k := mac([]byte("AWS4"+secret), s.date)
	for _, part := range []string{s.region, s.service, "aws4_request"} {
		k = mac(k, part)
	}
	return k
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// matches reports whether the signature is correct for one of the host names that the client may
// have used.
func (s *signature) matches(r *http.Request, secret, path string, hosts []string) bool {
	if !slices.Contains(s.signed, "host") {
		return false
	}
	key := s.key(secret)
	ok := 0
	for _, host := range hosts {
		sum := sha256.Sum256([]byte(s.canonical(r, path, host)))
		text := strings.Join([]string{algorithm, s.at.Format(timeLayout),
			strings.Join([]string{s.date, s.region, s.service, "aws4_request"}, "/"), hex.EncodeToString(sum[:])}, "\n")
		ok |= subtle.ConstantTimeCompare([]byte(s.value), []byte(hex.EncodeToString(mac(key, text))))
	}
	return ok == 1
}

// checkSignedHeaders returns an error if an x-amz- header is not signed. Otherwise the holder of a
// presigned PUT could turn it into a copy of any object. The canonical request always contains the
// hash of the body.
func (s *signature) checkSignedHeaders(h http.Header) error {
	for name := range h {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "x-amz-") && name != "x-amz-content-sha256" && !slices.Contains(s.signed, name) {
			return objects.ErrDenied("There were headers present in the request which were not signed: " + name)
		}
	}
	return nil
}

// canonical returns the canonical request.
func (s *signature) canonical(r *http.Request, path, host string) string {
	var b strings.Builder
	b.WriteString(r.Method + "\n" + path + "\n" + canonicalQuery(r.URL.RawQuery) + "\n")
	signed := slices.Clone(s.signed)
	slices.Sort(signed)
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = host
		case "content-length":
			value = strconv.FormatInt(max(r.ContentLength, 0), 10)
		case "transfer-encoding":
			value = strings.Join(r.TransferEncoding, ",")
		case "accept-encoding":
			// set by a proxy that changed the header
			if original := r.Header.Get("X-Original-Accept-Encoding"); original != "" {
				value = original
			}
		}
		b.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	payload := s.payload
	if s.query && r.Method == http.MethodGet {
		payload = unsigned
	}
	b.WriteString("\n" + strings.Join(signed, ";") + "\n" + payload)
	return b.String()
}

// canonicalQuery encodes the parameters, except the signature, and sorts them by name and value.
func canonicalQuery(raw string) string {
	var pairs [][2]string
	for _, part := range strings.Split(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, err1 := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil || name == "X-Amz-Signature" {
			continue
		}
		pairs = append(pairs, [2]string{escape(name), escape(value)})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	var b strings.Builder
	for i, pair := range pairs {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(pair[0] + "=" + pair[1])
	}
	return b.String()
}

// escape percent-encodes all characters except the unreserved ones of RFC 3986.
func escape(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}
