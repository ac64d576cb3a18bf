package storage

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/keys"
	"daawo/supabase/internal/storage/backend"
	"daawo/supabase/internal/storage/images"
	"daawo/supabase/internal/storage/objects"
	"daawo/supabase/internal/storage/s3"
	"daawo/supabase/internal/storage/tus"
)

// Config is what a deployment may choose. The zero value of a field is storage-api's default unless it says otherwise.
type Config struct {
	FileSizeLimit         int64         // bytes, required
	StandardLimit         int64         // bytes for uploads that are neither TUS nor S3; 0 means FileSizeLimit
	EmptyBucketMax        int           // most objects that one call empties a bucket of
	SignedUploadTTL       time.Duration // of a signed upload URL; 0 means two hours
	ImageTransformation   bool          // serve /render
	ImgproxyURL           string        // "" renders in this process
	TUSPath               string        // public path of the TUS endpoint; "" means /upload/resumable
	TUSExpiry             time.Duration // of an unfinished upload; 0 means one hour
	PublicURL             string        // scheme and host of absolute links; "" takes the request's
	AllowForwardedPrefix  bool          // X-Forwarded-Prefix goes in front of TUSPath
	S3                    bool          // serve /s3
	S3Region              string        // "" takes any
	S3AccessKeyID         string        // of the one key pair that has service_role's rights
	S3SecretAccessKey     string
	S3SessionKey          string // access key id of the session-token mode: TENANT_ID of storage-api
	S3AnonKey             string // its secret: the anon key
	S3Prefix              string // public path in front of /s3 that clients sign, such as /storage/v1
	AllowForwardedHeaders bool   // X-Forwarded-Host and -Proto are believed
	MissingIsEmpty        bool   // no Authorization is answered as an empty one, which the official CLI's gateway sends for it
}

// Options make an Engine.
type Options struct {
	Config
	Pool      *db.Pool // logs in as supabase_storage_admin, or another member of authenticator
	Backend   backend.Backend
	Verifier  *keys.Verifier
	URLSecret []byte // signs URLs: the JWT secret
	Log       *slog.Logger
	Now       func() time.Time
}

// Engine serves storage-api's routes from its root.
type Engine struct {
	Config
	store        *objects.Store
	verifier     *keys.Verifier
	images       *images.Renderer
	log          *slog.Logger
	table        []route
	signedUpload time.Duration
	tus          *tus.Handler
	s3           atomic.Pointer[s3.Handler] // nil inside when it is off
	stop         func()                     // ends the sweeps of SweepDaily
	now          func() time.Time
}

// New makes an Engine. It does not touch the database yet.
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
	e.store = objects.New(objects.Config{Pool: o.Pool, Backend: o.Backend, FileSizeLimit: o.FileSizeLimit, EmptyMax: o.EmptyBucketMax,
		URLSecret: o.URLSecret, Log: e.log, Now: e.now})
	if o.ImageTransformation {
		e.images = images.New(images.Config{Backend: o.Backend, ImgproxyURL: o.ImgproxyURL})
	}
	expiry := o.TUSExpiry
	if expiry == 0 {
		expiry = time.Hour
	}
	e.tus = tus.New(tus.Config{Store: e.store, Pool: o.Pool.Pgx(), MaxSize: o.FileSizeLimit, Expiry: expiry, Location: e.location,
		Log: e.log, Now: e.now})
	e.openS3(Secrets{S3AccessKeyID: o.S3AccessKeyID, S3SecretAccessKey: o.S3SecretAccessKey, S3AnonKey: o.S3AnonKey})
	e.table = e.routes()
	return e, nil
}

// Secrets are what keys of an installation make of storage's own.
type Secrets struct {
	URL         []byte   // signs URLs
	PreviousURL [][]byte // signed URLs that are still good

	S3AccessKeyID, S3SecretAccessKey, S3AnonKey string // as in Config
}

// SetSecrets takes rotated keys into use.
func (e *Engine) SetSecrets(s Secrets) {
	e.store.SetSecrets(s.URL, s.PreviousURL...)
	e.openS3(s)
}

func (e *Engine) openS3(s Secrets) {
	if !e.S3 {
		return
	}
	e.s3.Store(s3.New(s3.Config{Store: e.store, Verifier: e.verifier, AccessKeyID: s.S3AccessKeyID, SecretAccessKey: s.S3SecretAccessKey,
		SessionKey: e.S3SessionKey, SessionSecret: s.S3AnonKey, Region: e.S3Region, Prefix: e.s3Prefix, Hosts: e.hosts,
		Log: e.log, Now: e.now}))
}

// Sweep removes what crashes and interrupted uploads left behind and nothing has touched for a day, or for twice as long as
// an upload may take. It never removes what a row names. Replicas may sweep at the same time; what one has removed the
// other does not find.
func (e *Engine) Sweep(ctx context.Context) error {
	swept, err := e.store.Sweep(ctx, max(sweepAge, 2*e.TUSExpiry))
	if err == nil && swept.Orphans+swept.Temporary+swept.Uploads > 0 {
		e.log.InfoContext(ctx, "storage: swept", "orphans", swept.Orphans, "temporary", swept.Temporary, "uploads", swept.Uploads)
	}
	return err
}

// SweepDaily has this process sweep until Close, where nothing else calls Sweep.
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
	every := time.NewTimer(10 * time.Minute) // not while everything else is starting
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if err := e.Sweep(ctx); err != nil && ctx.Err() == nil {
			e.log.WarnContext(ctx, "storage: the sweep failed", "error", err)
		}
		every.Reset(sweepEvery)
	}
}

// Close ends it.
func (e *Engine) Close(context.Context) error {
	if e.stop != nil {
		e.stop()
	}
	e.tus.Close()
	if e.images != nil {
		e.images.Close()
	}
	return nil
}

// ServeHTTP dispatches to the protocol of the path.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	switch {
	case path == "/status":
		w.WriteHeader(http.StatusOK)
	case path == "/version":
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

// Version is the version of storage-api that this package speaks.
const Version = "1.74.0"

// standardLimit is the largest upload to a bucket that is neither TUS nor S3.
func (e *Engine) standardLimit(b *objects.Bucket) int64 {
	limit := e.store.Limit(b.SizeLimit)
	if e.StandardLimit > 0 {
		limit = min(limit, e.StandardLimit)
	}
	return limit
}
