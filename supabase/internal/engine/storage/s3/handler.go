// Package s3 implements the S3 protocol of storage: Signature Version 4 in headers and in query
// strings, buckets, objects, listings and multipart uploads. One key pair has the rights of
// service_role. With a session token, the key pair "tenant, anon key" has the rights of the token's
// user, under row level security.
package s3

import (
	"cmp"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/storage/objects"
)

// Root is the endpoint's path below the root of storage.
const Root = "/s3"

// Config configures a Handler.
type Config struct {
	Store           *objects.Store
	Verifier        *keys.Verifier
	AccessKeyID     string // of the key pair with the rights of service_role; "" disables it
	SecretAccessKey string
	SessionKey      string // access key id of the session-token mode
	SessionSecret   string // secret of the session-token mode: the anon key
	Region          string
	// Prefix returns the public path before Root, which clients sign. Hosts returns the host names
	// that clients may use.
	Prefix func(*http.Request) string
	// OnePrefix says that Prefix returns the same for all requests.
	OnePrefix bool
	Hosts     func(*http.Request) []string
	Log       *slog.Logger
	Now       func() time.Time
}

// Handler serves the protocol.
type Handler struct{ Config }

// New returns a Handler.
func New(c Config) *Handler { return &Handler{c} }

// call is one request.
type call struct {
	h           *Handler
	w           http.ResponseWriter
	r           *http.Request
	query       url.Values
	bucket, key string
	caller      objects.Caller
	body        io.Reader
	length      int64
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.serve(w, r); err != nil {
		if status := fail(w, r, err); status >= 500 && status != http.StatusNotImplemented && r.Context().Err() == nil {
			h.Log.ErrorContext(r.Context(), "storage: S3 request failed", "method", r.Method, "error", err)
		}
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	c := &call{h: h, w: w, r: r, query: r.URL.Query()}
	rest := strings.TrimPrefix(strings.TrimPrefix(r.URL.EscapedPath(), Root), "/")
	bucket, key, _ := strings.Cut(rest, "/")
	var err error
	if c.bucket, err = url.PathUnescape(bucket); err != nil {
		return objects.ErrInvalidBucketName()
	}
	if c.key, err = url.PathUnescape(key); err != nil {
		return objects.ErrInvalidKey(key)
	}
	if r.Method == http.MethodPost && c.key == "" &&
		strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		return c.postForm()
	}
	if err := c.authenticate(); err != nil {
		return err
	}
	return c.dispatch()
}

func (c *call) authenticate() error {
	s, err := readSignature(c.r, c.h.Now())
	if err != nil {
		return err
	}
	secret, err := c.identify(s)
	if err != nil {
		return err
	}
	if !c.h.signedFor(c.r, s, secret) {
		if s.session != "" {
			return apierror.Errorf(403, "SignatureDoesNotMatch",
				"The request signature we calculated does not match the signature you provided, Check your "+
					"credentials. The session token should be a valid JWT token")
		}
		return errMismatch
	}
	if err := s.checkSignedHeaders(c.r.Header); err != nil {
		return err
	}
	if c.body, c.length, err = s.body(c.r, secret); err != nil {
		return err
	}
	c.body, err = withChecksums(c.r, c.body)
	if c.length > 0 {
		c.body = &whole{c.body, c.length}
	}
	return err
}

// signedFor reports whether the signature is correct for the public path of the request, or for the
// path below the endpoint: s3fs and s3cmd do not sign the path of an endpoint, and s3cmd signs it
// as a part of the host.
//
// A path below the endpoint that looks like a public path is not accepted. So no string is the path
// of two requests, and a signature is valid for one of them only. With a prefix that each request
// names, that would not hold.
func (h *Handler) signedFor(r *http.Request, s *signature, secret string) bool {
	endpoint, hosts := strings.TrimRight(h.Prefix(r), "/")+Root, h.Hosts(r)
	rest, below := strings.CutPrefix(r.URL.EscapedPath(), Root)
	if !below { // a server of its own, without Root
		return s.matches(r, secret, strings.TrimSuffix(endpoint, Root)+rest, hosts)
	}
	if s.matches(r, secret, endpoint+rest, hosts) {
		return true
	}
	if !h.OnePrefix || rest == endpoint || strings.HasPrefix(rest, endpoint+"/") {
		return false
	}
	for _, host := range hosts {
		hosts = append(hosts, host+endpoint)
	}
	return s.matches(r, secret, cmp.Or(rest, "/"), hosts)
}

// identify sets the caller and returns the secret of the access key.
func (c *call) identify(s *signature) (secret string, err error) {
	c.caller = objects.Caller{Headers: c.r.Header, Method: c.r.Method, Path: c.r.URL.RequestURI()}
	switch {
	case s.service != "s3":
		return "", objects.ErrDenied("Invalid Service")
	case !slices.Contains([]string{"", "auto", "us-east-1", c.h.Region}, s.region) && c.h.Region != "":
		return "", errMismatch
	case s.session != "":
		if c.h.SessionKey == "" || s.accessKey != c.h.SessionKey {
			return "", objects.ErrDenied("Invalid Access Key")
		}
		claims, err := c.h.Verifier.Verify(s.session)
		if err != nil {
			return "", apierror.Errorf(403, "SignatureDoesNotMatch",
				"The request signature we calculated does not match the signature you provided, Check your "+
					"credentials. The session token should be a valid JWT token").WithCause(err)
		}
		c.caller.Role, c.caller.Subject, c.caller.Claims, c.caller.Token = claims.Role, claims.Subject,
			string(claims.Raw), s.session
		if c.caller.Role == "" {
			c.caller.Role = "anon"
		}
		return c.h.SessionSecret, nil
	case c.h.AccessKeyID == "":
		return "", objects.ErrDenied("Missing S3 Protocol Access Key ID or Secret Key Environment variables")
	case s.accessKey != c.h.AccessKeyID:
		return "", objects.ErrDenied("Invalid Access Key")
	}
	c.caller = c.caller.Service()
	return c.h.SecretAccessKey, nil
}

// operation is an entry of the dispatch table. Operations on the same path differ in query
// parameters or a header.
type operation struct {
	method string
	key    bool // the path has a key
	query  []string
	header string
	name   string
	serve  func(*call) error
}

// operations is the dispatch table. The first match counts.
var operations = []operation{
	{"PUT", true, []string{"partNumber", "uploadId"}, "X-Amz-Copy-Source", "storage.s3.upload.part_copy",
		(*call).uploadPartCopy},
	{"PUT", true, []string{"partNumber", "uploadId"}, "", "storage.s3.upload.part", (*call).uploadPart},
	{"PUT", true, nil, "X-Amz-Copy-Source", "storage.s3.object.copy", (*call).copyObject},
	{"PUT", true, nil, "", "storage.s3.upload", (*call).putObject},
	{"POST", true, []string{"uploads"}, "", "storage.s3.upload.create_multipart", (*call).createMultipart},
	{"POST", true, []string{"uploadId"}, "", "storage.s3.upload.complete_multipart", (*call).completeMultipart},
	{"GET", true, []string{"uploadId"}, "", "storage.s3.upload.list_parts", (*call).listParts},
	{"GET", true, []string{"tagging"}, "", "storage.s3.object.get_tagging", (*call).getTagging},
	{"GET", true, nil, "", "storage.s3.object.get", (*call).getObject},
	{"HEAD", true, nil, "", "storage.s3.object.info", (*call).headObject},
	{"DELETE", true, []string{"uploadId"}, "", "storage.s3.upload.abort_multipart", (*call).abortMultipart},
	{"DELETE", true, nil, "", "storage.s3.object.delete", (*call).deleteObject},
	{"POST", false, []string{"delete"}, "", "storage.s3.object.delete_many", (*call).deleteObjects},
	{"PUT", false, nil, "", "storage.s3.bucket.create", (*call).createBucket},
	{"HEAD", false, nil, "", "storage.s3.bucket.head", (*call).headBucket},
	{"DELETE", false, nil, "", "storage.s3.bucket.delete", (*call).deleteBucket},
	{"GET", false, []string{"location"}, "", "storage.s3.bucket.get_location", (*call).getLocation},
	{"GET", false, []string{"versioning"}, "", "storage.s3.bucket.get_versioning", (*call).getVersioning},
	{"GET", false, []string{"uploads"}, "", "storage.s3.upload.list_multipart", (*call).listUploads},
	{"GET", false, []string{"versions"}, "", "storage.s3.object.list", (*call).listVersions},
	{"GET", false, nil, "", "storage.s3.object.list", (*call).listObjects},
}

// subresources are the S3 subresources of buckets and objects that this server does not implement.
var subresources = []string{
	"abac", "accelerate", "acl", "analytics", "attributes", "cors", "encryption", "intelligent-tiering", "inventory",
	"legal-hold", "lifecycle", "logging", "metadataConfiguration", "metadataInventoryTable", "metadataJournalTable",
	"metadataTable", "metrics", "notification", "object-lock", "ownershipControls", "policy", "policyStatus",
	"publicAccessBlock", "renameObject", "replication", "requestPayment", "restore", "retention", "select", "tagging",
	"torrent", "versioning", "website",
}

// unsupported reports whether the request is for a subresource and would otherwise read, write or
// delete the object or the bucket itself. A GET of a bucket is harmless, because it only lists.
func (c *call) unsupported() bool {
	get := c.r.Method == http.MethodGet
	if get && c.key == "" || c.r.Method == http.MethodHead {
		return false
	}
	return slices.ContainsFunc(subresources,
		func(name string) bool { return c.query.Has(name) && !(get && name == "tagging") })
}

func (c *call) dispatch() error {
	if c.bucket == "" {
		if c.r.Method == http.MethodGet {
			c.caller.Operation = "storage.s3.bucket.list"
			return c.listBuckets()
		}
		return apierror.Errorf(405, "MethodNotAllowed", "The specified method is not allowed against this resource.")
	}
	if c.unsupported() {
		return apierror.Errorf(501, "NotImplemented",
			"A header or a query parameter asks for something that is not implemented.")
	}
	if c.key != "" && !isCurrent(c.query.Get("versionId")) {
		return errNoVersion
	}
	for _, op := range operations {
		if op.method != c.r.Method || op.key != (c.key != "") || op.header != "" && c.r.Header.Get(op.header) == "" ||
			slices.ContainsFunc(op.query, func(name string) bool { return !c.query.Has(name) }) {
			continue
		}
		c.caller.Operation = op.name
		return op.serve(c)
	}
	if c.r.Method == http.MethodPost { // storage-api's reply
		c.w.WriteHeader(http.StatusNotFound)
		return nil
	}
	return apierror.Errorf(405, "MethodNotAllowed", "The specified method is not allowed against this resource.")
}
