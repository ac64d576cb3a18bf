// Package admin is what an administrator does with reports and resources, without SQL: the commands `daawo reports` and
// `daawo resources` are thin shells around it. It works on any form of the stack, by its database and its storage API.
//
// Only cli imports it; of ours it imports db.
package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"daawo/supabase/internal/db"

	"github.com/jackc/pgx/v5"
)

// Desk is an administrator's access to one installation. Close it.
type Desk struct {
	Place
	DB *db.Pool
}

// Place says where an installation is. Addresses are without a path.
type Place struct {
	Database string // URL
	API      string // as this program reaches it
	Public   string // as people reach it, for links
	Key      string // service_role key
}

// Open connects to an installation.
func Open(ctx context.Context, at Place) (*Desk, error) {
	pool, err := db.Open(ctx, db.Config{URL: at.Database, MaxConns: 2, ApplicationName: "daawo-admin"})
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("the installation's database does not answer: %w", err)
	}
	return &Desk{Place: at, DB: pool}, nil
}

// Close gives the connections back.
func (d *Desk) Close() { d.DB.Close() }

// tx runs fn as the role that may do everything with the site's tables, and nothing with the server.
func (d *Desk) tx(ctx context.Context, fn func(pgx.Tx) error) error {
	return d.DB.Tx(ctx, db.Caller{Role: "service_role"}, pgx.TxOptions{}, fn)
}

// ErrNotFound means that nothing has the given reference or id.
var ErrNotFound = errors.New("there is none with that reference or id")

// storage makes a request to the storage API and decodes its JSON reply into reply, unless that is nil.
func (d *Desk) storage(ctx context.Context, method, path, contentType string, body []byte, reply any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, d.API+"/storage/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Apikey", d.Key)
	req.Header.Set("Authorization", "Bearer "+d.Key)
	req.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	if res.StatusCode >= 300 {
		var failed struct{ Message string }
		_ = json.Unmarshal(text, &failed) // not JSON: the status says enough
		return fmt.Errorf("storage: %s %s", res.Status, failed.Message)
	}
	if reply == nil {
		return nil
	}
	return json.Unmarshal(text, reply)
}

// signedLink opens a private object to whoever has the link, for a time.
func (d *Desk) signedLink(ctx context.Context, bucket, name string, lasts time.Duration) (string, error) {
	body, err := json.Marshal(map[string]int{"expiresIn": int(lasts.Seconds())})
	if err != nil {
		return "", err
	}
	var reply struct{ SignedURL string }
	path := "object/sign/" + bucket + "/" + url.PathEscape(name)
	if err := d.storage(ctx, http.MethodPost, path, "application/json", body, &reply); err != nil {
		return "", err
	}
	return d.Public + "/storage/v1" + reply.SignedURL, nil
}
