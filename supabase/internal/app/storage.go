package app

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/storage"
	"daawo/supabase/internal/functions/jobs"
	"daawo/supabase/internal/gateway/site"
)

// sweepCron is when storage removes files that crashes left, once for all replicas: each day at
// 00:17 UTC.
const sweepCron = "17 0 * * *"

// openStorage opens the storage engine, which is compatible with storage-api.
func (s *services) openStorage(ctx context.Context) error {
	if s.Config.StorageURL != "" {
		s.Background("buckets", func(ctx context.Context) { seedElsewhere(ctx, s) })
		return upstream(s.Installation, s.Config.StorageURL, &s.storage)
	}
	if !s.Config.Storage.Enabled {
		return nil
	}
	db, err := s.pools.open(ctx, s.db.URL("supabase_storage_admin"), "storage", storageConns)
	if err != nil {
		return err
	}
	files, closer, err := openStored(s.Options)
	if err != nil {
		return err
	}
	s.OnClose("files", func(context.Context) error { return closer.Close() })
	set := s.keys.Current()
	engine, err := storage.New(storage.Options{
		Config: storage.Config{
			FileSizeLimit:         int64(s.Config.Storage.FileSizeLimit),
			ImageTransformation:   s.Config.Storage.ImageTransformation.Enabled,
			ImgproxyURL:           s.Config.ImgproxyURL,
			TUSPath:               "/storage/v1/upload/resumable",
			AllowForwardedHeaders: true, // the gateway sets them
			S3:                    s.Config.Storage.S3Protocol.Enabled,
			S3SessionKey:          tenant,
			S3Prefix:              "/storage/v1",
			MissingIsEmpty:        true, // as in the stack of the official CLI; the gateway sends no empty header
		},
		Pool: db, Backend: files, URLSecret: []byte(set.JWTSecret), Log: s.Log.With("part", "storage"),
		Verifier: s.keys.Verifier(), Now: s.Now,
	})
	if err != nil {
		return err
	}
	s.OnClose("storage", engine.Close)
	engine.Claim(ctx)
	setSecrets(engine, set)
	s.keys.OnChange(func(set keys.Set) { setSecrets(engine, set) })
	if s.outbox != nil {
		s.outbox.Chores(jobs.Chore{Name: "sweep_storage", Cron: sweepCron, Do: engine.Sweep})
	} else { // another process runs the background jobs, but has no access to the files
		engine.SweepDaily()
	}
	s.storage = engine
	return s.seedBuckets(ctx)
}

// seedBuckets creates the buckets of config.toml and uploads their initial files, if this process
// serves storage.
func (s *services) seedBuckets(ctx context.Context) error {
	if s.Config.StorageURL != "" || s.storage == nil {
		return nil
	}
	return seedBuckets(ctx, s, s.storage)
}

func seedBuckets(ctx context.Context, s *services, storage http.Handler) error {
	return pool.WithConn(ctx, s.db.URL("postgres"), func(conn *pgx.Conn) error {
		return seedStorage(ctx, s.Config, s.Project, storage, s.keys.Current().ServiceRole, conn)
	})
}

// seedElsewhere creates the buckets of config.toml at STORAGE_URL. That service can start only once
// Postgres runs, so seedElsewhere tries until it succeeds.
func seedElsewhere(ctx context.Context, s *services) {
	var storage http.Handler
	err := upstream(s.Installation, s.Config.StorageURL, &storage)
	for wait := time.Second; err == nil; wait = min(2*wait, time.Minute) {
		failed := seedBuckets(ctx, s, storage)
		if failed == nil || ctx.Err() != nil {
			return
		}
		s.Log.Warn("buckets not created at STORAGE_URL; retrying", "error", failed, "in", wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// databaseReplaced closes the idle connections to a database that a reset has replaced, and creates
// the buckets in the new one.
func (s *services) databaseReplaced(ctx context.Context) error {
	s.pools.reset()
	return s.seedBuckets(ctx)
}

// setSecrets gives storage the secrets that are derived from the keys of the installation.
func setSecrets(engine *storage.Engine, set keys.Set) {
	secrets := storage.Secrets{URL: []byte(set.JWTSecret), S3AnonKey: set.Anon}
	for _, k := range set.Verifying() {
		if secret, ok := k.Shared(); ok && (k.Replaced() || !k.CanSign()) {
			secrets.PreviousURL = append(secrets.PreviousURL, secret)
		}
	}
	secrets.S3AccessKeyID, secrets.S3SecretAccessKey = s3Keys(set)
	engine.SetSecrets(secrets)
}

// s3Keys returns the access key of the S3 protocol: that of the official CLI if the other keys are
// its local ones, or else one that is derived from the JWT secret.
func s3Keys(set keys.Set) (id, secret string) {
	if set.JWTSecret == keys.Demo().JWTSecret {
		return "625729a08b95bf1b7ff351a663f3a23c", "850181e4652dd023b7a98c58ae0d2d34bd487ee0cc3254aed6eda37307425907"
	}
	derive := func(purpose string) string {
		mac := hmac.New(sha256.New, []byte(set.JWTSecret))
		mac.Write([]byte(purpose))
		return hex.EncodeToString(mac.Sum(nil))
	}
	return derive("s3 access key id")[:32], derive("s3 secret access key")
}

// seedStorage creates the buckets of config.toml and uploads their initial files once. It uses the
// HTTP API, which the engine and storage-api have in common.
func seedStorage(ctx context.Context, c *config.Config, project fs.FS, service http.Handler, key string,
	conn *pgx.Conn) error {
	client := &http.Client{Transport: handlerTransport{service}}
	call := func(method, target, contentType string, body []byte) error {
		r, err := http.NewRequestWithContext(ctx, method, "http://storage"+target, bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Apikey", key)
		if contentType != "" {
			r.Header.Set("Content-Type", contentType)
		}
		r.Header.Set("X-Upsert", "true")
		r.Header.Set("Cache-Control", "max-age=3600")
		res, err := client.Do(r)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode < 300 || bytes.Contains(text, []byte(`"409"`)) { // 409: it exists
			return err
		}
		return fmt.Errorf("storage replied %s to %s %s: %s", res.Status, method, target, bytes.TrimSpace(text))
	}
	for name, b := range c.Storage.Buckets {
		body, err := bucketOf(name, b)
		if err != nil {
			return err
		}
		// Look first: on a nearly full disk the database refuses writes, but the stack must still
		// start.
		address := "/bucket/" + url.PathEscape(name)
		existed := call(http.MethodGet, address, "", nil) == nil
		if !existed {
			if err := call(http.MethodPost, "/bucket", "application/json", body); err != nil {
				return newBucketError(c, name, err)
			}
		}
		if b.ObjectsPath == "" || !c.DB.Seed.Enabled {
			continue
		}
		err = runOnce(ctx, conn, b.ObjectsPath, func() error {
			if existed { // an earlier start may have made it with rules that refused a file
				if err := call(http.MethodPut, address, "application/json", body); err != nil {
					return err
				}
			}
			return eachFile(project, b.ObjectsPath, func(file string, content []byte) error {
				contentType := site.ContentType(file)
				if contentType == "" {
					contentType = mime.TypeByExtension(path.Ext(file)) // loads the system's list of types, 0.4 MB that stay
				}
				return call(http.MethodPost, "/object/"+url.PathEscape(name)+"/"+(&url.URL{Path: file}).EscapedPath(),
					contentType, content)
			})
		})
		if err != nil {
			return fmt.Errorf("seed of bucket %s: %w", name, err)
		}
	}
	return nil
}

// newBucketError names the bucket and, if it is the cause, the key of config.toml.
func newBucketError(c *config.Config, name string, err error) error {
	key, own := "storage.buckets."+name, c.Storage.Buckets[name].FileSizeLimit
	if most := c.Storage.FileSizeLimit; own > most {
		return fmt.Errorf("%s.file_size_limit: is %s, more than storage.file_size_limit (%s): raise that one: %w", key,
			own, most, err)
	}
	return fmt.Errorf("%s: %w", key, err)
}

// bucketOf returns the JSON of a bucket of config.toml.
func bucketOf(name string, b config.Bucket) ([]byte, error) {
	fields := map[string]any{"id": name, "name": name, "public": b.Public}
	if b.FileSizeLimit > 0 {
		fields["file_size_limit"] = int64(b.FileSizeLimit)
	}
	if len(b.AllowedMimeTypes) > 0 {
		fields["allowed_mime_types"] = b.AllowedMimeTypes
	}
	return json.Marshal(fields)
}

// runOnce runs fn unless the database records that it ran, in the table where the official CLI
// records seeds. If several servers start at the same time, one runs it and the others wait.
func runOnce(ctx context.Context, conn *pgx.Conn, what string, fn func() error) error {
	return migrate.Locked(ctx, conn, func() error {
		var tableExists, done bool
		err := conn.QueryRow(ctx, `select to_regclass('supabase_migrations.seed_files') is not null`).Scan(&tableExists)
		if err == nil && tableExists {
			err = conn.QueryRow(ctx, `select exists (select from supabase_migrations.seed_files where path = $1)`,
				what).Scan(&done)
		} else if err == nil {
			_, err = conn.Exec(ctx, `
				create schema if not exists supabase_migrations;
				create table if not exists supabase_migrations.seed_files (path text not null primary key, hash text not null)`)
		}
		if err != nil || done {
			return err
		}
		if err := fn(); err != nil {
			return err
		}
		_, err = conn.Exec(ctx, `insert into supabase_migrations.seed_files (path, hash) values ($1, '')`, what)
		return err
	})
}

// eachFile calls fn with the path relative to dir and the content of each file below dir.
func eachFile(project fs.FS, dir string, fn func(file string, content []byte) error) error {
	dir = path.Clean(strings.TrimPrefix(dir, "./"))
	return fs.WalkDir(project, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(project, name)
		if err != nil {
			return err
		}
		return fn(strings.TrimPrefix(name, dir+"/"), content)
	})
}
