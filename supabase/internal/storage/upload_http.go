package storage

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"daawo/supabase/internal/storage/objects"
)

// Limits of a multipart form, as in storage-api.
const (
	maxFormFields   = 10
	maxFieldBytes   = 1 << 20
	maxUserMetadata = 1 << 20
)

type uploadReply struct {
	ID  string `json:"Id,omitempty"`
	Key string `json:"Key"`
}

func (c *call) upload() error { return c.put(c.flag("X-Upsert")) }

func (c *call) uploadUpdate() error { return c.put(true) }

func (c *call) put(upsert bool) error {
	o, err := c.receive(c.caller.Subject, upsert)
	if err != nil {
		return err
	}
	return c.send(uploadReply{o.ID, c.bucket + "/" + c.name})
}

func (c *call) uploadSigned() error {
	q := c.query().require("token")
	token := q.text("token")
	if q.err != nil {
		return q.err
	}
	u, err := c.e.store.VerifySigned(token, c.bucket, c.name, objects.ScopeUpload)
	if err != nil {
		return err
	}
	if _, err := c.receive(u.Owner, u.Upsert != nil && *u.Upsert); err != nil {
		return err
	}
	return c.send(uploadReply{"", c.bucket + "/" + c.name})
}

// receive reads an object out of the request, from a raw body or from the file of a form, and stores it.
func (c *call) receive(owner string, upsert bool) (*objects.Object, error) {
	ctx := c.r.Context()
	u := objects.Upload{Bucket: c.bucket, Name: c.name, Owner: owner, Upsert: upsert, XRobotsTag: c.r.Header.Get("X-Robots-Tag")}
	body, err := c.describeUpload(&u)
	if err != nil {
		// That there is no such bucket goes before all that is wrong with the request.
		if _, missing := c.e.store.Bucket(ctx, c.caller.Service(), c.bucket); missing != nil {
			return nil, missing
		}
		return nil, err
	}
	u.Declared = c.declared(u.ContentType)
	a, err := c.e.store.Admit(ctx, c.caller, u)
	if err != nil {
		return nil, err
	}
	limit := c.e.standardLimit(a.Bucket)
	placeholder := objects.IsFolderPlaceholder(c.name)
	if placeholder {
		limit = 0
	}
	if !c.form() && c.r.ContentLength > limit {
		return nil, objects.ErrTooLarge("object")
	}
	if types := a.Bucket.AllowedTypes; len(types) > 0 && !placeholder {
		if err := objects.CheckMimeType(u.ContentType, types); err != nil {
			return nil, err
		}
		if body, err = notDisguised(body, u.ContentType); err != nil {
			return nil, err
		}
	}
	return a.Upload(ctx, body, limit)
}

// describeUpload reads what the request says about the object, up to the object itself.
func (c *call) describeUpload(u *objects.Upload) (io.Reader, error) {
	if u.XRobotsTag != "" {
		if err := checkRobots(u.XRobotsTag); err != nil {
			return nil, err
		}
	}
	if c.form() {
		return c.readForm(u)
	}
	u.ContentType = orElse(c.r.Header.Get("Content-Type"), "application/octet-stream")
	u.CacheControl = orElse(c.r.Header.Get("Cache-Control"), "no-cache")
	u.UserMetadata = userMetadata(c.r.Header.Get("X-Metadata"))
	return c.r.Body, nil
}

func (c *call) form() bool {
	return strings.HasPrefix(c.r.Header.Get("Content-Type"), "multipart/form-data")
}

func (c *call) declared(mimeType string) objects.Declared {
	d := objects.Declared{MimeType: mimeType}
	if n := c.r.ContentLength; n > 0 || n == 0 && c.r.Header.Get("Content-Length") != "" {
		d.Length = &n
	}
	return d
}

// readForm reads the fields in front of the first file and gives the file.
func (c *call) readForm(u *objects.Upload) (io.Reader, error) {
	_, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return nil, objects.ErrInvalidRequest("Multipart: Boundary not found")
	}
	form := multipart.NewReader(c.r.Body, params["boundary"])
	values := map[string]string{}
	var file io.Reader
	for fields := 0; ; fields++ {
		part, err := form.NextRawPart()
		if err == io.EOF {
			return nil, objects.ErrNoContent()
		}
		if err != nil {
			return nil, objects.ErrInvalidRequest("Unexpected end of form").WithCause(err)
		}
		if isFile(part) {
			file = part
			u.ContentType = orElse(values["contentType"], orElse(part.Header.Get("Content-Type"), "text/plain"))
			break
		}
		if fields == maxFormFields {
			return nil, objects.ErrInvalidRequest("reach fields limit")
		}
		data, err := io.ReadAll(io.LimitReader(part, maxFieldBytes+1))
		if err != nil {
			return nil, objects.ErrInvalidRequest("Unexpected end of form").WithCause(err)
		}
		if len(data) > maxUserMetadata {
			return nil, objects.ErrTooLarge("user_metadata")
		}
		values[part.FormName()] = string(data)
	}
	u.CacheControl = "no-cache"
	if age := values["cacheControl"]; age != "" {
		u.CacheControl = "max-age=" + age
	}
	custom, ok := values["metadata"]
	if !ok {
		custom = values["userMetadata"]
	}
	u.UserMetadata = jsonObject([]byte(custom))
	return file, nil
}

// isFile says whether a part is a file: it has a file name, even an empty one, or is plain bytes.
func isFile(p *multipart.Part) bool {
	_, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err == nil {
		if _, ok := params["filename"]; ok {
			return true
		}
	}
	return p.Header.Get("Content-Type") == "application/octet-stream"
}

// userMetadata reads the header x-metadata: a JSON object in base64. Anything else counts as absent.
func userMetadata(header string) json.RawMessage {
	if header == "" {
		return nil
	}
	text := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(header, "="))
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return jsonObject(raw)
}

func jsonObject(raw []byte) json.RawMessage {
	var doc map[string]json.RawMessage
	if json.Unmarshal(raw, &doc) != nil || doc == nil {
		return nil
	}
	return raw
}

// notDisguised looks at the first bytes of what is declared to be an image and refuses a page in its place: opened as
// a link it could be more than an image to a browser that guesses. It returns body with nothing lost.
func notDisguised(body io.Reader, contentType string) (io.Reader, error) {
	if !strings.HasPrefix(contentType, "image/") || strings.HasPrefix(contentType, "image/svg") {
		return body, nil
	}
	buffered := bufio.NewReaderSize(body, 512)
	head, _ := buffered.Peek(512) // an error comes again when the body is read
	switch kind := http.DetectContentType(head); {
	case strings.HasPrefix(kind, "text/html"), strings.HasPrefix(kind, "text/xml"):
		kind, _, _ = strings.Cut(kind, ";")
		return nil, objects.ErrMimeType(kind)
	}
	return buffered, nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
