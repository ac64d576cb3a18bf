// Package supabaseclient gives a function the client supabase-go, which acts as a caller:
//
//	c, err := supabaseclient.New(r.Context(), env, env.Caller)
//
// supabase-go imports storage-go, whose authors state no licence. A program contains both only if
// one of its functions imports this package.
package supabaseclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"daawo/supabase/edge"

	"github.com/supabase-community/postgrest-go"
	"github.com/supabase-community/supabase-go"
)

// Client is a client of supabase-go with a context and time limits. Queries through From end with
// the context. Call the other services (Storage, Functions, Auth) inside Within.
type Client struct {
	*supabase.Client
	ctx  context.Context
	rest *postgrest.Client
}

// timeout bounds one request of a Client.
const timeout = 10 * time.Second

// New returns a client of this stack with the permissions of a caller, such as env.Caller or
// edge.Service. Its requests end with ctx.
func New(ctx context.Context, env *edge.Env, as edge.Caller) (*Client, error) {
	url, key, token := env.Get("SUPABASE_URL"), env.Get("SUPABASE_ANON_KEY"), as.Token
	switch {
	case as.IsService():
		key = env.Get("SUPABASE_SERVICE_ROLE_KEY")
		token = key
	case token == "":
		token = key
	}
	headers := map[string]string{"apikey": key, "Authorization": "Bearer " + token}
	if env.Traceparent != "" {
		headers["Traceparent"] = env.Traceparent
	}
	c, err := supabase.NewClient(url, key, &supabase.ClientOptions{Headers: headers})
	if err != nil {
		return nil, fmt.Errorf("supabase client: %w", err)
	}
	rest := postgrest.NewClient(url+supabase.REST_URL, "public", headers)
	if rest.ClientError != nil {
		return nil, fmt.Errorf("supabase client: %w", rest.ClientError)
	}
	transport := bound{ctx, env.HTTP().Transport}
	rest.Transport.Parent = transport
	c.Auth = c.Auth.WithClient(http.Client{Transport: transport, Timeout: timeout})
	return &Client{Client: c, ctx: ctx, rest: rest}, nil
}

// From starts a query on a table or view. The query ends with the context of the client, and after
// 10 s at the latest.
func (c *Client) From(table string) *postgrest.QueryBuilder { return c.rest.From(table) }

// Rpc calls a database function and decodes its result into a T. Unlike the method of supabase-go,
// it returns errors.
func Rpc[T any](c *Client, function string, args any) (T, error) {
	var result, zero T
	c.rest.ClientError = nil
	text := c.rest.Rpc(function, "", args)
	if c.rest.ClientError != nil {
		return zero, c.rest.ClientError
	}
	var failed struct{ Code, Message string }
	if json.Unmarshal([]byte(text), &failed) == nil && failed.Code != "" && failed.Message != "" {
		return zero, fmt.Errorf("rpc %s: %s: %s", function, failed.Code, failed.Message)
	}
	if text == "" { // a function that returns void
		return zero, nil
	}
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		return zero, fmt.Errorf("rpc %s: %w", function, err)
	}
	return result, nil
}

// Within runs a call of supabase-go that takes no context. It returns when the call returns, when
// the context of the client ends, or after 10 s. A call that has not returned continues in the
// background until its connection ends.
func (c *Client) Within(call func() error) error {
	ctx, cancel := context.WithTimeout(c.ctx, timeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// bound is a transport that adds a context and a time limit to requests.
type bound struct {
	ctx  context.Context
	next http.RoundTripper
}

func (b bound) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.ctx.Err() != nil {
		return nil, b.ctx.Err()
	}
	ctx, cancel := context.WithTimeout(b.ctx, timeout)
	res, err := b.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, errors.Join(err, b.ctx.Err())
	}
	res.Body = body{res.Body, cancel}
	return res, nil
}

// body ends a request's context together with the body of its reply.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
