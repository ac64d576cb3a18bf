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

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/config"
	"daawo/supabase/internal/keys"
	"daawo/supabase/internal/migrate"
	"daawo/supabase/internal/outbox"
	"daawo/supabase/internal/storage"
)

// sweepAt is when storage removes what crashes left, once for all replicas: in the small hours of East Africa.
const sweepAt = "17 0 * * *"

// openStorage serves storage-api's wire.
func (s *services) openStorage(ctx context.Context) error {
	if s.cfg.StorageURL != "" {
		return s.upstream(s.cfg.StorageURL, &s.storage)
	}
	pool, err := s.openPool(ctx, s.db.url("supabase_storage_admin"), "storage", storageConns)
	if err != nil {
		return err
	}
	files, closer, err := s.openFiles()
	if err != nil {
		return err
	}
	s.onClose("files", func(context.Context) error { return closer.Close() })
	set := s.keys.current()
	engine, err := storage.New(storage.Options{
		Config: storage.Config{
			FileSizeLimit:         int64(s.cfg.Storage.FileSizeLimit),
			ImageTransformation:   s.cfg.Storage.ImageTransformation.Enabled,
			ImgproxyURL:           s.cfg.ImgproxyURL,
			TUSPath:               "/storage/v1/upload/resumable",
			AllowForwardedHeaders: true, // the gateway sets them
			S3:                    s.cfg.Storage.S3Protocol.Enabled,
			S3SessionKey:          tenant,
			S3Prefix:              "/storage/v1",
			MissingIsEmpty:        true, // what clients of the CLI's stack are told; the gateway sends no empty header
		},
		Pool: pool, Backend: files, URLSecret: []byte(set.JWTSecret), Log: s.log.With("part", "storage"),
		Verifier: s.keys.verifier, Now: s.options.Now,
	})
	if err != nil {
		return err
	}
	s.onClose("storage", engine.Close)
	takeSecrets(engine, set)
	s.keys.changed = append(s.keys.changed, func(set keys.Set) { takeSecrets(engine, set) })
	if s.outbox != nil {
		s.outbox.Chores(outbox.Chore{Name: "sweep_storage", Cron: sweepAt, Do: engine.Sweep})
	} else { // another process has the background work, and no files
		engine.SweepDaily()
	}
	s.storage = engine
	return withConn(ctx, s.db.url("postgres"), func(conn *pgx.Conn) error {
		return seedStorage(ctx, s.cfg, s.options.Project, engine, set.ServiceRole, conn)
	})
}

// takeSecrets gives storage what follows from the keys of the installation.
func takeSecrets(engine *storage.Engine, set keys.Set) {
	secrets := storage.Secrets{URL: []byte(set.JWTSecret), S3AnonKey: set.Anon}
	for _, k := range set.Verifying() {
		if old, ok := k.Shared(); ok && (k.Replaced() || !k.CanSign()) {
			secrets.PreviousURL = append(secrets.PreviousURL, old)
		}
	}
	secrets.S3AccessKeyID, secrets.S3SecretAccessKey = s3Keys(set)
	engine.SetSecrets(secrets)
}

// s3Keys is the key pair of the S3 protocol: the official CLI's with its other local keys, and one that follows from
// the installation's secret elsewhere.
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

// seedStorage makes the buckets of config.toml and, once, fills those that have files to begin with. It talks to the
// service by HTTP, so that it is the same for the engine here and for storage-api elsewhere.
func seedStorage(ctx context.Context, c *config.Config, project fs.FS, service http.Handler, key string, conn *pgx.Conn) error {
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
		if err != nil || res.StatusCode < 300 || bytes.Contains(text, []byte(`"409"`)) { // it is there already
			return err
		}
		return fmt.Errorf("storage answers %s to %s %s: %s", res.Status, method, target, bytes.TrimSpace(text))
	}
	for name, b := range c.Storage.Buckets {
		fields := map[string]any{"id": name, "name": name, "public": b.Public}
		if b.FileSizeLimit > 0 {
			fields["file_size_limit"] = int64(b.FileSizeLimit)
		}
		if len(b.AllowedMimeTypes) > 0 {
			fields["allowed_mime_types"] = b.AllowedMimeTypes
		}
		body, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		// Asked first: on a nearly full disk the database takes no writes, and the program must still start.
		if call(http.MethodGet, "/bucket/"+url.PathEscape(name), "", nil) != nil {
			if err := call(http.MethodPost, "/bucket", "application/json", body); err != nil {
				return err
			}
		}
		if b.ObjectsPath == "" || !c.DB.Seed.Enabled {
			continue
		}
		err = once(ctx, conn, b.ObjectsPath, func() error {
			return eachFile(project, b.ObjectsPath, func(file string, content []byte) error {
				contentType := mime.TypeByExtension(path.Ext(file))
				return call(http.MethodPost, "/object/"+url.PathEscape(name)+"/"+(&url.URL{Path: file}).EscapedPath(), contentType, content)
			})
		})
		if err != nil {
			return fmt.Errorf("seed of bucket %s: %w", name, err)
		}
	}
	return nil
}

// once runs fn unless the database remembers that it ran, in the table where the official CLI remembers seeds. Of servers
// that start at the same time the others wait for the one that runs it.
func once(ctx context.Context, conn *pgx.Conn, what string, fn func() error) error {
	return migrate.Locked(ctx, conn, func() error {
		var there, done bool
		err := conn.QueryRow(ctx, `select to_regclass('supabase_migrations.seed_files') is not null`).Scan(&there)
		if err == nil && there {
			err = conn.QueryRow(ctx, `select exists (select from supabase_migrations.seed_files where path = $1)`, what).Scan(&done)
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
