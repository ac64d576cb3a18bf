// Package standalone runs the storage engine alone, as a replacement for storage-api, with
// storage-api's environment variables, port and health path.
package standalone

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/storage"
	"daawo/supabase/internal/engine/storage/backend"
)

// Config holds the settings of the environment variables.
type Config struct {
	Engine    storage.Config
	Listen    string // host:port
	Database  string // URL
	MaxConns  int32
	Timeout   time.Duration // of an SQL statement
	JWTSecret string
	JWKS      []keys.Key
	Tenant    string
	Disk      *backend.DiskConfig
	S3        *backend.S3Config
	LogLevel  string
}

// FromEnv reads storage-api's variables. It ignores the variables of features that this engine does
// not have (multitenancy, queues, webhooks, Iceberg, vectors, tracing), which docs/storage.md
// lists.
func FromEnv(getenv func(string) (string, bool)) (*Config, error) {
	v := variables{getenv: getenv}
	c := &Config{
		Listen: net.JoinHostPort(v.text("0.0.0.0", "SERVER_HOST", "HOST"),
			strconv.FormatInt(v.whole(5000, "SERVER_PORT", "PORT"), 10)),
		Database: v.text("", "DATABASE_URL"), MaxConns: int32(v.whole(20, "DATABASE_MAX_CONNECTIONS")),
		Timeout:   time.Duration(v.whole(30_000, "DATABASE_STATEMENT_TIMEOUT")) * time.Millisecond,
		JWTSecret: v.text("", "AUTH_JWT_SECRET", "PGRST_JWT_SECRET"),
		Tenant:    v.text("storage-single-tenant", "PROJECT_REF", "TENANT_ID"),
		LogLevel:  v.text("info", "LOG_LEVEL"),
	}
	c.Engine = storage.Config{
		FileSizeLimit:  v.whole(0, "UPLOAD_FILE_SIZE_LIMIT", "FILE_SIZE_LIMIT"),
		StandardLimit:  v.whole(0, "UPLOAD_FILE_SIZE_LIMIT_STANDARD", "FILE_SIZE_LIMIT_STANDARD_UPLOAD"),
		EmptyBucketMax: int(v.whole(0, "STORAGE_EMPTY_BUCKET_MAX")),
		SignedUploadTTL: time.Duration(v.whole(60, "UPLOAD_SIGNED_URL_EXPIRATION_TIME",
			"SIGNED_UPLOAD_URL_EXPIRATION_TIME")) * time.Second,
		ImageTransformation:  v.is("IMAGE_TRANSFORMATION_ENABLED", "ENABLE_IMAGE_TRANSFORMATION"),
		ImgproxyURL:          v.text("", "IMGPROXY_URL"),
		TUSPath:              v.text("/upload/resumable", "TUS_URL_PATH"),
		TUSExpiry:            time.Duration(v.whole(3_600_000, "TUS_URL_EXPIRY_MS")) * time.Millisecond,
		PublicURL:            v.text("", "STORAGE_PUBLIC_URL"),
		AllowForwardedPrefix: v.is("REQUEST_ALLOW_X_FORWARDED_PATH"), AllowForwardedHeaders: true,
		S3: v.text("true", "S3_PROTOCOL_ENABLED") != "false", S3Prefix: v.text("", "S3_PROTOCOL_PREFIX"),
		S3AccessKeyID:     v.text("", "S3_PROTOCOL_ACCESS_KEY_ID"),
		S3SecretAccessKey: v.text("", "S3_PROTOCOL_ACCESS_KEY_SECRET"),
		S3Region:          v.text("", "STORAGE_S3_REGION", "SERVER_REGION", "REGION"), S3SessionKey: c.Tenant,
		S3AnonKey: v.text("", "ANON_KEY"), EncryptionKey: v.text("", "AUTH_ENCRYPTION_KEY", "ENCRYPTION_KEY"),
	}
	internal := v.text("stub", "STORAGE_S3_BUCKET", "GLOBAL_S3_BUCKET")
	switch kind := v.text("", "STORAGE_BACKEND"); kind {
	case "file":
		c.Disk = &backend.DiskConfig{Path: v.text("", "STORAGE_FILE_BACKEND_PATH", "FILE_STORAGE_BACKEND_PATH"),
			Bucket: internal, Tenant: c.Tenant}
		if c.Disk.Path == "" {
			v.fail("STORAGE_FILE_BACKEND_PATH is required with STORAGE_BACKEND=file")
		}
	case "s3":
		c.S3 = &backend.S3Config{Endpoint: v.text("", "STORAGE_S3_ENDPOINT", "GLOBAL_S3_ENDPOINT"),
			Region: v.text("us-east-1", "STORAGE_S3_REGION", "REGION"), Bucket: internal, Tenant: c.Tenant,
			AccessKey: v.text("", "AWS_ACCESS_KEY_ID"), SecretKey: v.text("", "AWS_SECRET_ACCESS_KEY"),
			PathStyle: v.is("STORAGE_S3_FORCE_PATH_STYLE", "GLOBAL_S3_FORCE_PATH_STYLE")}
	default:
		v.fail("STORAGE_BACKEND must be file or s3, not %q", kind)
	}
	for name, value := range map[string]string{"DATABASE_URL": c.Database, "AUTH_JWT_SECRET": c.JWTSecret} {
		if value == "" {
			v.fail("%s is required", name)
		}
	}
	if c.Engine.FileSizeLimit <= 0 {
		v.fail("UPLOAD_FILE_SIZE_LIMIT is required, in bytes")
	}
	if v.is("MULTI_TENANT", "IS_MULTITENANT") {
		v.fail("MULTI_TENANT is not supported")
	}
	if text := v.text("", "JWT_JWKS"); text != "" {
		set, err := keys.ParseSet(text)
		if err != nil {
			v.fail("JWT_JWKS: %v", err)
		}
		c.JWKS = set
	}
	return c, errors.Join(v.errs...)
}

type variables struct {
	getenv func(string) (string, bool)
	errs   []error
}

func (v *variables) fail(format string, args ...any) {
	v.errs = append(v.errs, fmt.Errorf(format, args...))
}

// text returns the value of the first variable that is set.
func (v *variables) text(otherwise string, names ...string) string {
	for _, name := range names {
		if s, ok := v.getenv(name); ok && s != "" {
			return s
		}
	}
	return otherwise
}

func (v *variables) is(names ...string) bool { return strings.EqualFold(v.text("", names...), "true") }

func (v *variables) whole(otherwise int64, names ...string) int64 {
	s := v.text("", names...)
	if s == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		v.fail("%s is not an integer: %q", names[0], s)
	}
	return n
}

// verifyingKeys returns the keys that verify tokens: the secret and the key set. It also sets
// S3AnonKey if it is empty.
func (c *Config) verifyingKeys() ([]keys.Key, error) {
	all := append([]keys.Key{}, c.JWKS...)
	all = append(all, keys.Secret("", c.JWTSecret))
	if c.Engine.S3AnonKey == "" { // storage-api creates one too
		claims, err := json.Marshal(map[string]any{"role": "anon", "iat": time.Now().Unix(),
			"exp": time.Now().AddDate(10, 0, 0).Unix()})
		if err != nil {
			return nil, err
		}
		token, err := keys.Secret("", c.JWTSecret).SignPlain(claims)
		if err != nil {
			return nil, err
		}
		c.Engine.S3AnonKey = token
	}
	return all, nil
}
