package s3

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/objects"
)

// A browser form can upload one file with a signed policy (S3 API reference, "Browser-Based Uploads
// Using POST").

const (
	maxFormFields = 20
	maxFormField  = 64 << 10
	maxDiscarded  = 64 << 20 // bytes of a refused form that are read before the reply
)

// policy is the decoded policy of a form.
type policy struct {
	Expiration string `json:"expiration"`
	Conditions []any  `json:"conditions"`
}

func (c *call) postForm() error {
	_, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil {
		return objects.ErrInvalidRequest("Multipart: Boundary not found")
	}
	form := multipart.NewReader(c.r.Body, params["boundary"])
	fields := http.Header{}
	var file *multipart.Part
	for file == nil {
		part, err := form.NextPart()
		if err != nil {
			return objects.ErrInvalidRequest("Missing file")
		}
		name := strings.ToLower(part.FormName())
		if name == "file" {
			file = part
			break
		}
		data, err := io.ReadAll(io.LimitReader(part, maxFormField+1))
		if err != nil || len(data) > maxFormField || len(fields) == maxFormFields {
			// a client that is still sending would not see the reply
			io.Copy(io.Discard, io.LimitReader(c.r.Body, maxDiscarded))
			return objects.ErrInvalidRequest("The form is too large")
		}
		if _, duplicate := fields[name]; duplicate {
			return errSignature("Duplicate form field in POST policy request")
		}
		fields[name] = []string{string(data)}
	}
	get := func(name string) string { return strings.Join(fields[name], "") }
	limits, err := c.checkPolicy(get, fields)
	if err != nil {
		return err
	}
	key := strings.ReplaceAll(get("key"), "${filename}", file.FileName())
	body := &sizeRange{r: file, least: limits[0], left: limits[1]}
	// not the type of the file part, which no condition covers
	kind := orElse(get("content-type"), "application/octet-stream")
	user := http.Header{}
	for name, values := range fields {
		if strings.HasPrefix(name, metaPrefix) {
			user[name] = values
		}
	}
	c.caller.Operation = "storage.s3.upload"
	o, err := c.store(key, body, -1, kind, orElse(get("cache-control"), "no-cache"), userMetadata(user))
	if err != nil {
		return err
	}
	m, _ := o.Meta()
	c.w.Header().Set("Etag", m.ETag)
	status, _ := strconv.Atoi(get("success_action_status"))
	switch status {
	case http.StatusCreated:
		return reply(c.w, status, completeReply{XMLName: xml.Name{Local: "PostResponse"}, Location: c.bucket + "/" + o.Name,
			Bucket: c.bucket, Key: o.Name, ETag: m.ETag})
	case http.StatusNoContent:
	default:
		status = http.StatusOK
	}
	c.w.WriteHeader(status)
	return nil
}

// checkPolicy verifies the signature of the policy, its expiry and its conditions. It returns the
// smallest and the largest allowed size.
func (c *call) checkPolicy(get func(string) string, fields http.Header) (sizes [2]int64, err error) {
	sizes[1] = maxPart
	raw := get("policy")
	s := &signature{value: get("x-amz-signature"), session: get("x-amz-security-token")}
	if raw == "" || s.value == "" || get("x-amz-credential") == "" || get("x-amz-date") == "" {
		return sizes, errSignature("Invalid signature format")
	}
	if err := s.scope(get("x-amz-credential"), get("x-amz-date")); err != nil {
		return sizes, err
	}
	secret, err := c.identify(s)
	if err != nil {
		return sizes, err
	}
	if subtle.ConstantTimeCompare([]byte(hex.EncodeToString(mac(s.key(secret), raw))), []byte(s.value)) != 1 {
		return sizes, errMismatch
	}
	var p policy
	text, err := base64.StdEncoding.DecodeString(raw)
	if err != nil || json.Unmarshal(text, &p) != nil {
		return sizes, objects.ErrInvalidRequest("Invalid policy")
	}
	until, err := time.Parse(time.RFC3339, p.Expiration)
	if err != nil {
		return sizes, objects.ErrDenied("Invalid according to Policy: Policy expiration is required")
	}
	if c.h.Now().After(until) {
		return sizes, objects.ErrDenied("Invalid according to Policy: Policy expired.")
	}
	// The fields of the signature need no condition. Every other field does, including other x-amz-
	// fields.
	seen := map[string]bool{"policy": true, "x-amz-signature": true, "x-amz-algorithm": true, "x-amz-credential": true,
		"x-amz-date": true, "x-amz-security-token": true}
	for _, condition := range p.Conditions {
		name, ok := c.matchCondition(condition, get, &sizes)
		if !ok {
			return sizes, objects.ErrDenied("Invalid according to Policy: Policy Condition failed")
		}
		seen[name] = true
	}
	for name := range fields {
		if !seen[name] && !strings.HasPrefix(name, "x-ignore-") {
			return sizes, objects.ErrDenied("Invalid according to Policy: Extra input fields: " + name)
		}
	}
	if !seen["key"] || !seen["bucket"] {
		return sizes, objects.ErrDenied("Invalid according to Policy: Policy must name the bucket and the key")
	}
	return sizes, nil
}

// matchCondition checks one condition: {"name": "value"}, ["eq" or "starts-with", "$name",
// "value"], or ["content-length-range", least, most], which it stores in sizes. It returns the name
// of the field.
func (c *call) matchCondition(condition any, get func(string) string, sizes *[2]int64) (name string, ok bool) {
	value := func(name string) string {
		if name == "bucket" {
			return c.bucket
		}
		return get(name)
	}
	switch v := condition.(type) {
	case map[string]any:
		for field, want := range v {
			name = strings.ToLower(field)
			text, isText := want.(string)
			return name, len(v) == 1 && isText && value(name) == text
		}
	case []any:
		if len(v) != 3 {
			return "", false
		}
		kind, _ := v[0].(string)
		if kind == "content-length-range" {
			least, ok1 := v[1].(float64)
			most, ok2 := v[2].(float64)
			sizes[0], sizes[1] = int64(least), min(int64(most), maxPart)
			return kind, ok1 && ok2
		}
		field, ok1 := v[1].(string)
		want, ok2 := v[2].(string)
		name = strings.ToLower(strings.TrimPrefix(field, "$"))
		switch {
		case !ok1 || !ok2:
		case kind == "eq":
			return name, value(name) == want
		case kind == "starts-with":
			return name, strings.HasPrefix(value(name), want)
		}
	}
	return name, false
}

// sizeRange is a reader that fails if the body is smaller or larger than the policy allows.
type sizeRange struct {
	r           io.Reader
	least, left int64
}

func (b *sizeRange) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.least -= int64(n)
	if b.left -= int64(n); b.left < 0 {
		return 0, objects.ErrTooLarge("object")
	}
	if err == io.EOF && b.least > 0 {
		return n, apierror.Errorf(400, "EntityTooSmall",
			"Your proposed upload is smaller than the minimum allowed size")
	}
	return n, err
}
