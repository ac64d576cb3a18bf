package storage

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/images"
	"daawo/supabase/internal/engine/storage/objects"
	"daawo/supabase/internal/engine/storage/s3"
	"daawo/supabase/internal/engine/storage/tus"
)

// Config holds the settings of a deployment. The zero value of a field is storage-api's default
// unless noted otherwise.
type Config struct {
	FileSizeLimit        int64         // bytes, required
	StandardLimit        int64         // bytes for uploads that are neither TUS nor S3; 0 means FileSizeLimit
	EmptyBucketMax       int           // largest number of objects that one call to /bucket/:/empty deletes
	SignedUploadTTL      time.Duration // lifetime of a signed upload URL; 0 means two hours
	ImageTransformation  bool          // serve /render
	ImgproxyURL          string        // "" renders in this process
	TUSPath              string        // public path of the TUS endpoint; "" means /upload/resumable
	TUSExpiry            time.Duration // lifetime of an unfinished upload; 0 means one hour
	PublicURL            string        // scheme and host of absolute links; "" means as in the request
	AllowForwardedPrefix bool          // put X-Forwarded-Prefix before TUSPath
	S3                   bool          // serve /s3
	S3Region             string        // "" accepts any region
	S3AccessKeyID        string        // of the key pair with the rights of service_role
	S3SecretAccessKey    string
	S3SessionKey         string // access key id of the session-token mode: TENANT_ID of storage-api
	S3AnonKey            string // secret of the session-token mode: the anon key
	S3Prefix             string // public path before /s3 that clients sign, such as /storage/v1
	// encrypts upload_signature of multipart uploads, so that storage-api can continue them
	EncryptionKey         string
	AllowForwardedHeaders bool // trust X-Forwarded-Host and -Proto
	// treat a missing Authorization header as an empty one, as behind the official CLI's gateway
	MissingIsEmpty bool
}

// Options configure an Engine.
type Options struct {
	Config
	Pool      *pool.Pool // logs in as supabase_storage_admin, or another member of authenticator
	Backend   backend.Backend
	Verifier  *keys.Verifier
	URLSecret []byte // secret of signed URLs: the JWT secret
	Log       *slog.Logger
	Now       func() time.Time
}

// Engine serves storage-api's routes. Its paths have no prefix.
type Engine struct {
	Config
	store        *objects.Store
	verifier     *keys.Verifier
	images       *images.Renderer
	log          *slog.Logger
	table        []route
	signedUpload time.Duration
	tus          *tus.Handler
	s3           atomic.Pointer[s3.Handler] // nil if S3 is disabled
	stop         func()                     // stops SweepDaily; nil if it is not running
	now          func() time.Time
}

// New returns an Engine. It does not connect to the database.
func New(o Options) (*Engine, error) {
	if o.Pool == nil || o.Backend == nil || o.Verifier == nil || len(o.URLSecret) == 0 {
		return nil, errors.New("storage: pool, backend, verifier and secret are required")
	}
	if o.FileSizeLimit <= 0 {
		return nil, errors.New("storage: the file size limit must be positive")
	}
	e := &Engine{Config: o.Config, verifier: o.Verifier, log: o.Log, now: o.Now, signedUpload: o.SignedUploadTTL}
	if e.log == nil {
		e.log = slog.Default()
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.signedUpload == 0 {
		e.signedUpload = 2 * time.Hour
	}
	e.store = objects.New(objects.Config{Pool: o.Pool, Backend: o.Backend, FileSizeLimit: o.FileSizeLimit,
		EmptyMax: o.EmptyBucketMax, URLSecret: o.URLSecret, EncryptionKey: o.EncryptionKey, Log: e.log, Now: e.now})
	if o.ImageTransformation {
		e.images = images.New(images.Config{Backend: o.Backend, ImgproxyURL: o.ImgproxyURL})
	}
	expiry := o.TUSExpiry
	if expiry == 0 {
		expiry = time.Hour
	}
	_, s3Backend := o.Backend.(*backend.S3)
	e.tus = tus.New(tus.Config{Store: e.store, Pool: o.Pool.Pgx(), MaxSize: o.FileSizeLimit, Expiry: expiry,
		AnnounceExpiry: s3Backend, Location: e.location, Log: e.log, Now: e.now})
	e.openS3(Secrets{S3AccessKeyID: o.S3AccessKeyID, S3SecretAccessKey: o.S3SecretAccessKey, S3AnonKey: o.S3AnonKey})
	e.table = e.routes()
	return e, nil
}

// Secrets are the secrets that follow from the keys of an installation.
type Secrets struct {
	URL         []byte   // signs URLs
	PreviousURL [][]byte // earlier URL secrets, which still verify

	S3AccessKeyID, S3SecretAccessKey, S3AnonKey string // as in Config
}

// SetSecrets replaces the secrets after a key rotation.
func (e *Engine) SetSecrets(s Secrets) {
	e.store.Signer.SetSecrets(s.URL, s.PreviousURL...)
	e.openS3(s)
}

func (e *Engine) openS3(s Secrets) {
	if !e.S3 {
		return
	}
	e.s3.Store(s3.New(s3.Config{Store: e.store, Verifier: e.verifier, AccessKeyID: s.S3AccessKeyID,
		SecretAccessKey: s.S3SecretAccessKey, SessionKey: e.S3SessionKey, SessionSecret: s.S3AnonKey,
		Region: e.S3Region, Prefix: e.s3Prefix, OnePrefix: !e.AllowForwardedPrefix, Hosts: e.hosts, Log: e.log, Now: e.now}))
}

// Claim checks that the files belong to the database, and marks them if they are new. It logs an
// error if they belong to another one; then the engine deletes no file.
func (e *Engine) Claim(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	switch err := e.store.Claim(ctx); {
	case errors.Is(err, objects.ErrForeignFiles):
		e.log.ErrorContext(ctx, "storage: no file is deleted", "error", err)
	case err != nil:
		e.log.WarnContext(ctx, "storage: mark of the files not read", "error", err)
	}
}

// ForeignFiles returns the place of the mark of the files if they belong to another database, or
// "".
func (e *Engine) ForeignFiles() string { return e.store.Foreign() }

// claimTimeout bounds how long a store that does not answer delays a start.
const claimTimeout = 5 * time.Second

// Sweep removes what crashes and interrupted uploads have left, if it has not changed for a day and
// for twice the lifetime of an unfinished upload. It never removes bytes that a row refers to,
// and nothing from the files of another database.
// Several replicas may sweep at the same time.
func (e *Engine) Sweep(ctx context.Context) error {
	swept, err := e.store.Sweep(ctx, max(sweepAge, 2*e.TUSExpiry))
	if err == nil && swept.Orphans+swept.Temporary+swept.Uploads > 0 {
		e.log.InfoContext(ctx, "storage: sweep finished", "orphans", swept.Orphans, "temporary", swept.Temporary,
			"uploads", swept.Uploads)
	}
	return err
}

// SweepDaily starts a daily Sweep in the background, until Close. It is for processes without a
// scheduler that calls Sweep.
func (e *Engine) SweepDaily() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	e.stop = func() {
		stop()
		<-done
	}
	go func() {
		defer close(done)
		e.sweepDaily(ctx)
	}()
}

const (
	sweepEvery = 24 * time.Hour
	sweepAge   = 24 * time.Hour
)

func (e *Engine) sweepDaily(ctx context.Context) {
	every := time.NewTimer(10 * time.Minute) // leave the start of the process undisturbed
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if err := e.Sweep(ctx); err != nil && ctx.Err() == nil {
			e.log.WarnContext(ctx, "storage: sweep failed", "error", err)
		}
		every.Reset(sweepEvery)
	}
}

// Close stops the background work and releases the locks of resumable uploads.
func (e *Engine) Close(context.Context) error {
	if e.stop != nil {
		e.stop()
	}
	e.tus.Close()
	e.store.Close()
	if e.images != nil {
		e.images.Close()
	}
	return nil
}

// ServeHTTP selects the protocol by the path as the client sent it: an encoded slash separates no
// segments.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case path == "/status" && get:
		w.WriteHeader(http.StatusOK)
	case path == "/version" && get:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write([]byte(Version))
	case strings.HasPrefix(path, "/upload/resumable"):
		e.resumable(w, r)
	case e.S3 && (path == s3.Root || strings.HasPrefix(path, s3.Root+"/")):
		e.s3.Load().ServeHTTP(w, r)
	default:
		e.rest(w, r)
	}
}

// Version is the version of storage-api that this package implements.
const Version = "1.74.0"

// standardLimit returns the largest upload to a bucket, in bytes, that is neither TUS nor S3.
func (e *Engine) standardLimit(b *objects.Bucket) int64 {
	limit := e.store.Buckets.Limit(b.SizeLimit)
	if e.StandardLimit > 0 {
		limit = min(limit, e.StandardLimit)
	}
	return limit
}
