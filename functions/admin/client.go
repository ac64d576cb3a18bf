// Package admin administers reports, resources and staff: the commands `daawo reports`, `daawo
// resources` and `daawo staff`, and the Client behind them. It uses the database and the storage
// API of an installation, so it works with every deployment of the stack.
//
// Only package main and tests import it.
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
	"os/user"
	"time"

	"daawo/supabase/stack"

	"github.com/jackc/pgx/v5"
)

// Client is an administrator's access to one installation. Close it.
type Client struct {
	stack.Installation
	conn *pgx.Conn
}

// Open connects to an installation.
func Open(ctx context.Context, at stack.Installation) (*Client, error) {
	conn, err := at.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &Client{at, conn}, nil
}

// Close closes the connection.
func (c *Client) Close(ctx context.Context) error { return c.conn.Close(ctx) }

// tx runs fn in a transaction as service_role, which has all rights on the tables of the site, but
// none on the server. The trail names the command line and the user of this machine as the author
// of its changes.
func (c *Client) tx(ctx context.Context, fn func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, c.conn, pgx.TxOptions{BeginQuery: "begin; set local role service_role"},
		func(tx pgx.Tx) error {
			const name = `select set_config('app.actor', $1, true), set_config('request.jwt.claims', '{"role":"service_role"}', true)`
			if _, err := tx.Exec(ctx, name, actor()); err != nil {
				return err
			}
			return fn(tx)
		})
}

// actor returns the name under which the trail knows this program: "command line" and the user of
// this machine, if known.
func actor() string {
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return "command line"
	}
	return "command line, " + u.Username
}

// ErrNotFound means that no row has the given reference or id.
var ErrNotFound = errors.New("not found")

// storage makes a request to the storage API and decodes its JSON reply into reply, unless that is
// nil.
func (c *Client) storage(ctx context.Context, method, path, contentType string, body []byte, reply any) error {
	return c.api(ctx, "storage", method, path, contentType, body, reply)
}

// apiError is an error reply of a service. code is a code of auth's replies, such as email_exists.
type apiError struct{ service, status, code, message string }

func (e apiError) Error() string { return e.service + ": " + e.status + " " + e.message }

// api makes a request to a service of the API as service_role and decodes its JSON reply into
// reply, unless that is nil.
func (c *Client) api(ctx context.Context, service, method, path, contentType string, body []byte, reply any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.API+"/"+service+"/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Apikey", c.Key)
	req.Header.Set("Authorization", "Bearer "+c.Key)
	req.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", service, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("%s: %w", service, err)
	}
	if res.StatusCode >= 300 {
		var failed struct {
			Message, Msg string
			Code         string `json:"error_code"`
		}
		_ = json.Unmarshal(text, &failed) // if it is not JSON, the error has only the status
		return apiError{service, res.Status, failed.Code, failed.Message + failed.Msg}
	}
	if reply == nil {
		return nil
	}
	return json.Unmarshal(text, reply)
}

// signedLink returns a link that opens a private object for a limited time.
func (c *Client) signedLink(ctx context.Context, bucket, name string, lasts time.Duration) (string, error) {
	body, err := json.Marshal(map[string]int{"expiresIn": int(lasts.Seconds())})
	if err != nil {
		return "", err
	}
	var reply struct{ SignedURL string }
	path := "object/sign/" + bucket + "/" + url.PathEscape(name)
	if err := c.storage(ctx, http.MethodPost, path, "application/json", body, &reply); err != nil {
		return "", err
	}
	return c.Public + "/storage/v1" + reply.SignedURL, nil
}
