package s3

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/objects"

	"github.com/google/uuid"
)

// maxPart is the largest part of S3, in bytes.
const maxPart = 5 << 30

func (c *call) createMultipart() error {
	if err := objects.CheckBucketName(c.bucket); err != nil {
		return err
	}
	if err := objects.CheckName(c.key); err != nil {
		return err
	}
	bucket, err := c.h.Store.Buckets.Get(c.r.Context(), c.caller.Service(), c.bucket)
	if err != nil {
		return err
	}
	kind := c.r.Header.Get("Content-Type")
	if err := c.checkIgnoredJSON(kind); err != nil {
		return err
	}
	if kind != "" && len(bucket.AllowedTypes) > 0 {
		if err := objects.CheckMimeType(kind, bucket.AllowedTypes); err != nil {
			return err
		}
	}
	user := userMetadata(c.r.Header, c.query)
	if user == nil {
		user = json.RawMessage(`{}`)
	}
	key := backend.Key{Bucket: c.bucket, Name: c.key, Version: uuid.NewString()}
	id, err := c.h.Store.Multipart.Create(c.r.Context(), c.caller, key,
		backend.Options{ContentType: kind, CacheControl: c.r.Header.Get("Cache-Control")}, user)
	if err != nil {
		return err
	}
	return reply(c.w, http.StatusOK, initiateReply{Xmlns: namespace, Bucket: c.bucket, Key: c.key, UploadId: id})
}

// checkIgnoredJSON returns an error if a body that has no meaning is declared as JSON, but is not
// JSON.
func (c *call) checkIgnoredJSON(kind string) error {
	if kind, _, _ = strings.Cut(kind, ";"); strings.TrimSpace(kind) != "application/json" {
		return nil
	}
	data, err := readBody(c.body)
	if err != nil || len(data) == 0 {
		return err
	}
	return decodeJSON(data, "", nil)
}

// part reads partNumber and returns the upload.
func (c *call) part() (*objects.MultipartUpload, int, error) {
	number, err := partNumber(c.query.Get("partNumber"), "Querystring, partNumber")
	if err != nil {
		return nil, 0, err
	}
	m, err := c.upload()
	return m, number, err
}

func (c *call) upload() (*objects.MultipartUpload, error) {
	id := c.query.Get("uploadId")
	if id == "" {
		return nil, apierror.Errorf(400, "InvalidUploadId", "Invalid upload id")
	}
	return c.h.Store.Multipart.Get(c.r.Context(), c.caller, id, c.bucket, c.key)
}

func (c *call) uploadPart() error {
	if c.length < 0 {
		return apierror.Errorf(411, "MissingContentLength", "You must provide the Content-Length HTTP header.")
	}
	if c.length > maxPart {
		return objects.ErrTooLarge("object")
	}
	m, number, err := c.part()
	if err != nil {
		return err
	}
	part, err := c.h.Store.Multipart.PutPart(c.r.Context(), c.caller, m, number, c.body, c.length)
	if err != nil {
		return err
	}
	c.w.Header().Set("Etag", part.ETag)
	c.w.Header().Set("Access-Control-Expose-Headers", "etag")
	c.w.WriteHeader(http.StatusOK)
	return nil
}

var copyRange = regexp.MustCompile(`^bytes=(\d+)-(\d+)$`)

func (c *call) uploadPartCopy() error {
	bucket, key, err := c.source()
	if err != nil {
		return err
	}
	return objects.UseCurrent(func() (*objects.Object, error) {
		return c.h.Store.Object(c.r.Context(), c.caller, bucket, key)
	}, c.copyPart)
}

func (c *call) copyPart(source *objects.Object) error {
	if err := c.checkSource(source); err != nil {
		return err
	}
	meta, _ := source.Meta()
	size := int64(0)
	if meta.Size != nil {
		size = *meta.Size
	}
	offset, length := int64(0), size
	if text := c.r.Header.Get("X-Amz-Copy-Source-Range"); text != "" {
		invalid := apierror.Errorf(400, "InvalidRange", "invalid range provided")
		found := copyRange.FindStringSubmatch(text)
		if found == nil {
			return invalid
		}
		first, err1 := strconv.ParseInt(found[1], 10, 64)
		last, err2 := strconv.ParseInt(found[2], 10, 64)
		if err1 != nil || err2 != nil || first > last || last >= size {
			return invalid
		}
		offset, length = first, last-first+1
	}
	m, number, err := c.part()
	if err != nil {
		return err
	}
	part, at, err := c.h.Store.Multipart.CopyPart(c.r.Context(), c.caller, m, number, source.Key(), offset, length)
	if err != nil {
		return err
	}
	return reply(c.w, http.StatusOK,
		copyReply{XMLName: xml.Name{Local: "CopyPartResult"}, Xmlns: namespace, ETag: part.ETag,
			LastModified: objects.Timestamp(at)})
}

func (c *call) completeMultipart() error {
	var doc completeRequest
	if _, err := c.document("CompleteMultipartUpload", &doc); err != nil {
		return err
	}
	parts, err := doc.parts()
	if err != nil {
		return err
	}
	m, err := c.upload()
	if err != nil {
		return err
	}
	when, err := writeCondition(c.r.Header)
	if err != nil {
		return err
	}
	o, err := c.h.Store.Multipart.Complete(c.r.Context(), c.caller, m, parts, when)
	if err != nil {
		return err
	}
	meta, _ := o.Meta()
	return reply(c.w, http.StatusOK, completeReply{XMLName: xml.Name{Local: "CompleteMultipartUploadResult"},
		Xmlns: namespace, Location: c.bucket + "/" + c.key, Bucket: c.bucket, Key: c.key, ETag: meta.ETag})
}

// parts returns the parts to join. They must be in ascending order.
func (r *completeRequest) parts() ([]backend.Part, error) {
	parts := make([]backend.Part, len(r.Parts))
	for i, p := range r.Parts {
		at := "Body, CompleteMultipartUpload, Part, " + strconv.Itoa(i)
		number, err := partNumber(string(p.PartNumber), at+", PartNumber")
		switch {
		case p.PartNumber == "":
			return nil, objects.ErrInvalidRequest(at + " must have required property 'PartNumber'")
		case err != nil:
			return nil, err
		case p.ETag == nil:
			return nil, objects.ErrInvalidRequest(at + " must have required property 'ETag'")
		case i > 0 && number <= parts[i-1].Number:
			return nil, apierror.Errorf(400, "InvalidPartOrder", "The list of parts was not in ascending order.")
		}
		parts[i] = backend.Part{Number: number, ETag: strings.Trim(*p.ETag, `"`)}
	}
	return parts, nil
}

func (c *call) abortMultipart() error {
	m, err := c.upload()
	if err != nil {
		return err
	}
	if err := c.h.Store.Multipart.Abort(c.r.Context(), c.caller, m); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusOK) // storage-api's status; S3 sends 204
	return nil
}

func (c *call) listParts() error {
	limit, err := c.number("max-parts", 1000, 1000)
	if err != nil {
		return err
	}
	if limit == 0 { // as in storage-api: not set
		limit = 1000
	}
	after, err := c.number("part-number-marker", 0, 10_000)
	if err != nil {
		return err
	}
	m, err := c.upload()
	if err != nil {
		return err
	}
	parts, err := c.h.Store.Multipart.Parts(c.r.Context(), c.caller, m, after, limit+1)
	if err != nil {
		return err
	}
	doc := partsReply{Xmlns: namespace, Bucket: c.bucket, Key: c.key, UploadId: m.ID,
		PartNumberMarker: c.query.Get("part-number-marker"), MaxParts: limit, IsTruncated: len(parts) > limit}
	if doc.IsTruncated {
		parts = parts[:limit]
		doc.NextPartNumberMarker = parts[len(parts)-1].Number
	}
	for _, p := range parts {
		doc.Parts = append(doc.Parts, partEntry{p.Number, objects.Timestamp(p.CreatedAt), p.ETag, p.Size})
	}
	return reply(c.w, http.StatusOK, doc)
}

func (c *call) listUploads() error {
	limit, err := c.number("max-uploads", 1000, 1000)
	if err != nil {
		return err
	}
	if limit == 0 {
		return objects.ErrInvalidParameter("MaxUploads")
	}
	if _, err := c.h.Store.Buckets.Get(c.r.Context(), c.caller.Service(), c.bucket); err != nil {
		return err
	}
	prefix, delimiter := c.query.Get("prefix"), c.query.Get("delimiter")
	found, err := c.h.Store.Multipart.List(c.r.Context(), c.caller, c.bucket, prefix, delimiter,
		marker(c.query.Get("key-marker")), marker(c.query.Get("upload-id-marker")), limit+1)
	if err != nil {
		return err
	}
	doc := uploadsReply{Xmlns: namespace, Bucket: c.bucket, Name: c.bucket, Prefix: c.encoded(prefix),
		KeyMarker: c.query.Get("key-marker"), UploadIDMarker: c.query.Get("upload-id-marker"), MaxUploads: limit,
		Delimiter: delimiter, EncodingType: c.query.Get("encoding-type"), IsTruncated: len(found) > limit}
	if doc.IsTruncated {
		found = found[:limit]
		last := found[len(found)-1]
		doc.NextKeyMarker = base64.StdEncoding.EncodeToString([]byte("l:" + last.Name))
		doc.NextUploadIDMarker = base64.StdEncoding.EncodeToString([]byte("l:" + last.ID))
	}
	doc.KeyCount = len(found)
	for _, m := range found {
		if m.ID == "" {
			doc.CommonPrefixes = append(doc.CommonPrefixes, prefixEntry{c.encoded(m.Name)})
			continue
		}
		doc.Uploads = append(doc.Uploads,
			uploadEntry{c.encoded(m.Name), objects.Timestamp(m.CreatedAt), m.ID, "STANDARD"})
	}
	return reply(c.w, http.StatusOK, doc)
}

// marker decodes a marker of an earlier reply. It returns a plain key unchanged.
func marker(s string) string {
	if raw, err := base64.StdEncoding.DecodeString(s); err == nil {
		if text, ok := strings.CutPrefix(string(raw), "l:"); ok {
			return text
		}
	}
	return s
}
