package gateway

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
)

// CleanBucket is a bucket of images. The gateway removes the metadata of its uploads before storage
// gets a byte of them, so the metadata reaches no disk and no backup. It works the same for storage
// in this process and elsewhere.
type CleanBucket struct {
	ID       string
	MaxBytes int64 // of one file; larger ones get 413
	// message for a file that cannot be read, by language such as "en"; "" is for other languages
	Refusal map[string]string

	// HideNames stores an upload whose name is taken under a longer name and replies as if the name
	// had been free. Only requests with the service_role key learn that a name is taken.
	HideNames bool

	// RefuseCopies refuses copies and moves of its files to any bucket, also with the service_role
	// key.
	RefuseCopies bool
}

// Limits of the cleaning.
const (
	cleanSlots    = 4 // uploads being cleaned at once; each may hold its file twice in memory
	cleanWait     = 20 * time.Second
	formOverhead  = 1 << 20 // bytes of a form besides its file
	maxStoreReply = 1 << 20 // bytes of a reply of storage to an upload
	maxMoveBody   = 64 << 10
)

// uploadCleaner is the handler between the gateway and storage.
type uploadCleaner struct {
	storage http.Handler
	buckets map[string]CleanBucket
	clean   func(content []byte) (clean []byte, contentType string, err error)
	bodies  *bodyBuffer
	slots   chan struct{}
}

// cleanUploads returns storage behind the cleaning of Options.CleanBuckets.
func (g *gateway) cleanUploads() http.Handler {
	if g.Storage == nil || len(g.CleanBuckets) == 0 {
		return g.Storage
	}
	c := &uploadCleaner{storage: g.Storage, buckets: map[string]CleanBucket{}, clean: g.CleanImage, bodies: g.bodies,
		slots: make(chan struct{}, cleanSlots)}
	for _, b := range g.CleanBuckets {
		c.buckets[b.ID] = b
	}
	return c
}

// ServeHTTP cleans uploads to the buckets and refuses other ways to write to them. Everything else
// goes to storage unchanged.
func (c *uploadCleaner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := segments(r.URL)
	if c.hides(w, r, path) {
		return
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodDelete ||
		r.Method == http.MethodOptions {
		c.storage.ServeHTTP(w, r)
		return
	}
	switch {
	case len(path) < 2:
		c.storage.ServeHTTP(w, r)
	case path[0] == "object":
		c.object(w, r, path[1:])
	case path[0] == "upload":
		c.resumable(w, r, path)
	case path[0] == "s3":
		c.s3(w, r, path[1:])
	default:
		c.storage.ServeHTTP(w, r)
	}
}

// hides serves the requests of users whose replies would tell whether a name exists, if the bucket
// hides its names: a refused deletion, and the S3 protocol with a user's token.
func (c *uploadCleaner) hides(w http.ResponseWriter, r *http.Request, path []string) bool {
	if len(path) < 2 || !c.buckets[path[1]].HideNames {
		return false
	}
	re, _ := w.(*reply)
	user := re == nil || re.privilege != serviceRole
	switch {
	case path[0] == "object" && r.Method == http.MethodDelete && user:
		answer := &storeReply{header: http.Header{}}
		c.storage.ServeHTTP(answer, r)
		if answer.status >= 400 && answer.status < 500 {
			writeStorageError(w, http.StatusBadRequest, "404", "not_found", "Object not found")
			return true
		}
		answer.send(w)
		return true
	case path[0] == "s3" && (r.Header.Get("X-Amz-Security-Token") != "" || r.URL.Query().Has("X-Amz-Security-Token")):
		refuseS3(w, http.StatusForbidden, "AccessDenied", "Access Denied")
		return true
	}
	return false
}

// segments returns the decoded segments of a path without empty ones. Services may route a path by
// its decoded form. Below upload and s3 an encoded slash separates segments, too.
func segments(u *url.URL) []string {
	if path := split(u.Path); len(path) > 0 && (path[0] == "upload" || path[0] == "s3") {
		return path
	}
	path := split(u.EscapedPath())
	for i, segment := range path {
		if decoded, err := url.PathUnescape(segment); err == nil {
			path[i] = decoded
		}
	}
	return slices.DeleteFunc(path, func(s string) bool { return s == "." })
}

// split returns the segments of a path without empty ones and ".".
func split(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" || s == "." })
}

// object serves the routes below /object.
func (c *uploadCleaner) object(w http.ResponseWriter, r *http.Request, path []string) {
	if len(path) == 1 && (path[0] == "move" || path[0] == "copy") {
		c.move(w, r)
		return
	}
	if len(path) > 2 && path[0] == "upload" && path[1] == "sign" && r.Method == http.MethodPut {
		path = path[2:]
	}
	b, ok := c.buckets[path[0]]
	if !ok || len(path) < 2 {
		c.storage.ServeHTTP(w, r)
		return
	}
	if r.ContentLength > b.MaxBytes+formOverhead || r.ContentLength > b.MaxBytes && !isMultipart(r) {
		refuseLarge(w)
		return
	}
	whole := c.bodies.before(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.upload(w, r, b, path) }))
	limitBody(b.MaxBytes+formOverhead, whole).ServeHTTP(w, r)
}

// upload cleans one file and gives it to storage.
func (c *uploadCleaner) upload(w http.ResponseWriter, r *http.Request, b CleanBucket, path []string) {
	wait := time.NewTimer(cleanWait)
	defer wait.Stop()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-wait.C:
		writeBusy(w)
		return
	case <-r.Context().Done():
		return
	}
	u, err := readUpload(r, b.MaxBytes)
	switch {
	case err != nil:
		writeStorageError(w, http.StatusBadRequest, "400", "InvalidRequest", "Unexpected end of multipart data")
		return
	case int64(len(u.file)) > b.MaxBytes:
		refuseLarge(w)
		return
	}
	if placeholder := len(u.file) == 0 && path[len(path)-1] == ".emptyFolderPlaceholder"; u.hasFile && !placeholder {
		clean, _, err := c.clean(u.file)
		if err != nil {
			refuseUnreadable(w, r, b)
			return
		}
		u.file = clean
	}
	answer := c.store(r, u)
	re, _ := w.(*reply)
	if b.HideNames && answer.taken() && r.Method == http.MethodPost && len(path) == 2 &&
		(re == nil || re.privilege != serviceRole) {
		name := freeName(path[1])
		again := r.Clone(r.Context())
		again.URL.Path, again.URL.RawPath = "/object/"+b.ID+"/"+name, ""
		answer = c.store(again, u)
		answer.body = *bytes.NewBuffer(bytes.ReplaceAll(answer.body.Bytes(), []byte(name), []byte(path[1])))
	}
	answer.send(w)
}

// store sends an upload to storage.
func (c *uploadCleaner) store(r *http.Request, u *upload) *storeReply {
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(u.head), bytes.NewReader(u.file), bytes.NewReader(u.tail)))
	r.ContentLength = int64(len(u.head) + len(u.file) + len(u.tail))
	r.TransferEncoding = nil
	r.Header.Del("Expect")
	r.Header.Del("Content-Length")
	answer := &storeReply{header: http.Header{}}
	c.storage.ServeHTTP(answer, r)
	return answer
}

// freeName returns a name that no other upload gets: with random characters before the extension.
func freeName(name string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		dot = len(name)
	}
	return name[:dot] + "-" + strings.ToLower(rand.Text()[:12]) + name[dot:]
}

// move refuses to move or copy an object from another bucket to a cleaned one.
func (c *uploadCleaner) move(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxMoveBody+1))
	if err != nil || len(body) > maxMoveBody {
		writeBodyError(w)
		return
	}
	values := stringValues(body)
	cleaned := func(id string) bool { _, ok := c.buckets[id]; return ok }
	from := values["bucketid"]
	if slices.ContainsFunc(from, c.refusesCopies) {
		writeStorageError(w, http.StatusBadRequest, "403", "Unauthorized", refusedCopy)
		return
	}
	if slices.ContainsFunc(values["destinationbucket"], cleaned) && !(len(from) > 0 && allOf(from, cleaned)) {
		refuseWay(w)
		return
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	c.storage.ServeHTTP(w, r)
}

// stringValues returns the strings of a JSON object by their names in lower case. It returns all
// values of a repeated name, because services differ in which one they take.
func stringValues(body []byte) map[string][]string {
	values := map[string][]string{}
	decoder := json.NewDecoder(bytes.NewReader(body))
	if _, err := decoder.Token(); err != nil {
		return values
	}
	for decoder.More() {
		name, err := decoder.Token()
		var value any
		if err != nil || decoder.Decode(&value) != nil {
			return values
		}
		// Services take a list of one string for the string, also in lists.
		list, ok := value.([]any)
		for ok && len(list) == 1 {
			value = list[0]
			list, ok = value.([]any)
		}
		if text, ok := value.(string); ok {
			key := strings.ToLower(fmt.Sprint(name))
			values[key] = append(values[key], text)
		}
	}
	return values
}

func (c *uploadCleaner) refusesCopies(bucket string) bool { return c.buckets[bucket].RefuseCopies }

// copySource returns the bucket of x-amz-copy-source, or "".
func copySource(h http.Header) string {
	source, _, _ := strings.Cut(h.Get("X-Amz-Copy-Source"), "?")
	source, err := url.PathUnescape(source)
	if err != nil {
		return ""
	}
	bucket, _, _ := strings.Cut(strings.TrimLeft(source, "/"), "/")
	return bucket
}

func allOf(all []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(all, func(s string) bool { return !ok(s) })
}

// resumable refuses resumable uploads: their parts arrive one by one and would be stored before the
// file can be cleaned.
func (c *uploadCleaner) resumable(w http.ResponseWriter, r *http.Request, path []string) {
	for pair := range strings.SplitSeq(strings.Join(r.Header.Values("Upload-Metadata"), ","), ",") {
		_, value, _ := strings.Cut(strings.TrimSpace(pair), " ")
		if _, ok := c.buckets[decode64(value)]; ok {
			refuseWay(w)
			return
		}
	}
	for part := range strings.SplitSeq(decode64(path[len(path)-1]), "/") { // the id: bucket, name and version
		if _, ok := c.buckets[part]; ok {
			refuseWay(w)
			return
		}
	}
	c.storage.ServeHTTP(w, r)
}

// decode64 decodes base64 in either alphabet, with or without padding. It returns "" for other
// texts.
func decode64(text string) string {
	text = strings.NewReplacer("-", "+", "_", "/", "=", "").Replace(strings.TrimSpace(text))
	decoded, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	return string(decoded)
}

// s3 refuses uploads with the S3 protocol: their signature covers the original bytes.
func (c *uploadCleaner) s3(w http.ResponseWriter, r *http.Request, path []string) {
	if c.refusesCopies(copySource(r.Header)) {
		refuseS3(w, http.StatusForbidden, "AccessDenied", refusedCopy)
		return
	}
	_, ok := c.buckets[path[0]]
	creates := r.Method == http.MethodPut && len(path) == 1 // the bucket
	// A form is an upload, whatever the query says.
	if !ok || creates || r.Method == http.MethodPost && r.URL.Query().Has("delete") && !isMultipart(r) {
		c.storage.ServeHTTP(w, r)
		return
	}
	refuseS3(w, http.StatusNotImplemented, "NotImplemented", refusedWay)
}

func refuseS3(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message></Error>`, code,
		message)
}

const (
	refusedWay  = "This bucket accepts whole files through the standard upload only."
	refusedCopy = "The files of this bucket cannot be copied or moved."
)

func refuseWay(w http.ResponseWriter) {
	writeStorageError(w, http.StatusBadRequest, "403", "Unauthorized", refusedWay)
}

func refuseLarge(w http.ResponseWriter) {
	writeStorageError(w, http.StatusRequestEntityTooLarge, "413", "Payload too large",
		"The object exceeded the maximum allowed size")
}

// refuseUnreadable refuses a file that is no image, in the client's language.
func refuseUnreadable(w http.ResponseWriter, r *http.Request, b CleanBucket) {
	message, chosen := b.Refusal[""], ""
	tags, _, _ := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	for _, tag := range tags { // ordered by preference
		base, _ := tag.Base()
		if text, ok := b.Refusal[base.String()]; ok {
			message, chosen = text, base.String()
			break
		}
	}
	message = cmp.Or(message, "The file is not an image that can be read.")
	if chosen != "" {
		w.Header().Set("Content-Language", chosen)
	}
	w.Header().Add("Vary", "Accept-Language")
	writeStorageError(w, http.StatusBadRequest, "415", "invalid_image", message)
}

// writeStorageError writes an error as storage-api does, with its own status in the body.
func writeStorageError(w http.ResponseWriter, status int, own, name, message string) {
	body, _ := json.Marshal(struct { // strings always marshal
		StatusCode string `json:"statusCode"`
		Error      string `json:"error"`
		Message    string `json:"message"`
	}{own, name, message})
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}
