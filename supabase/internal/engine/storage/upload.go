package storage

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"daawo/supabase/internal/engine/storage/objects"
)

// Limits of a multipart form, as in storage-api.
const (
	maxFormFields   = 10
	maxFieldBytes   = 1 << 20
	maxUserMetadata = 1 << 20
	maxEarly        = 32 << 10 // bytes of a file after which the fields are read
	maxDiscarded    = 64 << 20 // bytes of a refused form that are read before the reply
)

type uploadReply struct {
	ID  string `json:"Id,omitempty"`
	Key string `json:"Key"`
}

// uploadHandler stores uploads that are neither TUS nor S3.
type uploadHandler struct {
	store *objects.Store
	limit func(*objects.Bucket) int64 // largest upload to a bucket, in bytes
}

func (h uploadHandler) create(c *call) error { return h.put(c, c.flag("X-Upsert")) }

func (h uploadHandler) update(c *call) error { return h.put(c, true) }

func (h uploadHandler) put(c *call, upsert bool) error {
	o, err := h.receive(c, c.caller.Subject, upsert)
	if err != nil {
		return err
	}
	return c.send(uploadReply{o.ID, c.bucket + "/" + c.name})
}

func (h uploadHandler) signed(c *call) error {
	q := c.query().require("token")
	token := q.text("token")
	if q.err != nil {
		return q.err
	}
	u, err := h.store.Signer.Verify(token, c.bucket, c.name, objects.ScopeUpload)
	if err != nil {
		return err
	}
	if _, err := h.receive(c, u.Owner, u.Upsert != nil && *u.Upsert); err != nil {
		return err
	}
	return c.send(uploadReply{"", c.bucket + "/" + c.name})
}

// receive stores the object in the request: the raw body, or the file of a form.
func (h uploadHandler) receive(c *call, owner string, upsert bool) (*objects.Object, error) {
	ctx := c.r.Context()
	u := objects.Upload{Bucket: c.bucket, Name: c.name, Owner: owner, Upsert: upsert,
		XRobotsTag: c.r.Header.Get("X-Robots-Tag")}
	body, err := describeUpload(c.r, &u)
	if err != nil {
		// A missing bucket is reported before the errors of the request.
		if _, missing := h.store.Buckets.Get(ctx, c.caller.Service(), c.bucket); missing != nil {
			return nil, missing
		}
		return nil, err
	}
	u.Declared = declared(c.r, u.ContentType)
	a, err := h.store.Admit(ctx, c.caller, u)
	if err != nil {
		return nil, err
	}
	limit := h.limit(a.Bucket)
	placeholder := objects.IsFolderPlaceholder(c.name)
	if placeholder {
		limit = 0
	}
	if !isForm(c.r) && c.r.ContentLength > limit {
		return nil, objects.ErrTooLarge("object")
	}
	if types := a.Bucket.AllowedTypes; len(types) > 0 && !placeholder {
		if err := objects.CheckMimeType(u.ContentType, types); err != nil {
			return nil, err
		}
		if body, err = rejectMarkup(body, u.ContentType); err != nil {
			return nil, err
		}
	}
	return a.Upload(ctx, body, limit)
}

// describeUpload fills u from the headers and form fields. It returns a reader of the object's
// bytes.
func describeUpload(r *http.Request, u *objects.Upload) (io.Reader, error) {
	if u.XRobotsTag != "" {
		if err := checkRobots(u.XRobotsTag); err != nil {
			return nil, err
		}
	}
	if isForm(r) {
		file, err := readForm(r, u)
		if err != nil { // a client that is still sending would not see the reply
			io.Copy(io.Discard, io.LimitReader(r.Body, maxDiscarded))
		}
		return file, err
	}
	u.ContentType = orElse(r.Header.Get("Content-Type"), "application/octet-stream")
	u.CacheControl = orElse(r.Header.Get("Cache-Control"), "no-cache")
	var err error
	u.UserMetadata, err = userMetadata(r.Header.Get("X-Metadata"))
	return r.Body, err
}

func isForm(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data")
}

// declared returns the metadata in the headers, which policies can check.
func declared(r *http.Request, mimeType string) objects.Declared {
	d := objects.Declared{MimeType: mimeType}
	if n := r.ContentLength; n > 0 || n == 0 && r.Header.Get("Content-Length") != "" {
		d.Length = &n
	}
	return d
}

// readForm reads the fields before the first file into u, and those after a small file. It returns
// a reader of the file.
func readForm(r *http.Request, u *objects.Upload) (io.Reader, error) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return nil, objects.ErrInvalidRequest("Multipart: Boundary not found")
	}
	form := multipart.NewReader(r.Body, params["boundary"])
	values := map[string]string{}
	part, err := readFields(form, values)
	if err == nil && part == nil {
		err = objects.ErrNoContent()
	}
	if err != nil {
		return nil, err
	}
	u.ContentType = orElse(values["contentType"], orElse(partType(part), "text/plain"))
	file, err := smallFile(form, part, values)
	if err != nil {
		return nil, err
	}
	u.CacheControl = "no-cache"
	if age := values["cacheControl"]; age != "" {
		u.CacheControl = "max-age=" + age
	}
	custom, ok := values["metadata"]
	if !ok {
		custom = values["userMetadata"]
	}
	u.UserMetadata, err = objects.UserMetadata([]byte(custom))
	return file, err
}

// readFields reads fields into values, up to the next file, which it returns; nil at the end.
func readFields(form *multipart.Reader, values map[string]string) (*multipart.Part, error) {
	for fields := 0; ; fields++ {
		part, err := form.NextRawPart()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, errFormEnds(err)
		}
		if isFile(part) {
			return part, nil
		}
		if fields == maxFormFields {
			return nil, objects.ErrInvalidRequest("reach fields limit")
		}
		data, err := io.ReadAll(io.LimitReader(part, maxFieldBytes+1))
		if err != nil {
			return nil, errFormEnds(err)
		}
		if len(data) > maxUserMetadata {
			return nil, objects.ErrTooLarge("user_metadata")
		}
		values[part.FormName()] = string(data)
	}
}

// smallFile returns a reader of a file. After a file of at most maxEarly bytes it reads the fields,
// too. storage-api sees the fields after a file if they are in the same piece of the body.
func smallFile(form *multipart.Reader, part io.Reader, values map[string]string) (io.Reader, error) {
	begin, err := io.ReadAll(io.LimitReader(part, maxEarly+1))
	switch {
	case err != nil:
		return nil, errFormEnds(err)
	case len(begin) > maxEarly:
		return io.MultiReader(bytes.NewReader(begin), formFile{part}), nil
	}
	_, err = readFields(form, values)
	return bytes.NewReader(begin), err
}

func errFormEnds(err error) error {
	return objects.ErrInvalidRequest("Unexpected end of multipart data").WithCause(err)
}

// formFile is a file whose form may end early.
type formFile struct{ io.Reader }

func (f formFile) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errFormEnds(err)
	}
	return n, err
}

// partType returns the type of a part without its parameters.
func partType(p *multipart.Part) string {
	kind, _, _ := strings.Cut(p.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// isFile reports whether a part is a file: it has a file name, even an empty one, or the type
// application/octet-stream.
func isFile(p *multipart.Part) bool {
	_, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err == nil {
		if _, ok := params["filename"]; ok {
			return true
		}
	}
	return partType(p) == "application/octet-stream"
}

// userMetadata decodes the header x-metadata: a JSON object in base64.
func userMetadata(header string) (json.RawMessage, error) {
	if header == "" {
		return nil, nil
	}
	text := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(header, "="))
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, nil
	}
	return objects.UserMetadata(raw)
}

// rejectMarkup returns ErrMimeType if a body that is declared as an image starts like HTML or XML.
// A browser that guesses types could run it. The returned reader yields the whole body.
func rejectMarkup(body io.Reader, contentType string) (io.Reader, error) {
	if !strings.HasPrefix(contentType, "image/") || strings.HasPrefix(contentType, "image/svg") {
		return body, nil
	}
	buffered := bufio.NewReaderSize(body, 512)
	head, _ := buffered.Peek(512) // a read error occurs again when the body is read
	switch kind := http.DetectContentType(head); {
	case strings.HasPrefix(kind, "text/html"), strings.HasPrefix(kind, "text/xml"):
		kind, _, _ = strings.Cut(kind, ";")
		return nil, objects.ErrMimeType(kind)
	}
	return buffered, nil
}
