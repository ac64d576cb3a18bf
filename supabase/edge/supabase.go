package edge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

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

// clientTimeout bounds one request of a Client.
const clientTimeout = 10 * time.Second

// Supabase returns a client of this stack with the permissions of a caller, such as env.Caller or
// Service. Its requests end with ctx.
func (e *Env) Supabase(ctx context.Context, as Caller) (*Client, error) {
	url, key, token := e.Get("SUPABASE_URL"), e.Get("SUPABASE_ANON_KEY"), as.Token
	switch {
	case as.IsService():
		key = e.Get("SUPABASE_SERVICE_ROLE_KEY")
		token = key
	case token == "":
		token = key
	}
	headers := map[string]string{"apikey": key, "Authorization": "Bearer " + token}
	if e.Traceparent != "" {
		headers["Traceparent"] = e.Traceparent
	}
	c, err := supabase.NewClient(url, key, &supabase.ClientOptions{Headers: headers})
	if err != nil {
		return nil, fmt.Errorf("supabase client: %w", err)
	}
	rest := postgrest.NewClient(url+supabase.REST_URL, "public", headers)
	if rest.ClientError != nil {
		return nil, fmt.Errorf("supabase client: %w", rest.ClientError)
	}
	rest.Transport.Parent = bound{ctx, e}
	c.Auth = c.Auth.WithClient(http.Client{Transport: bound{ctx, e}, Timeout: clientTimeout})
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
	ctx, cancel := context.WithTimeout(c.ctx, clientTimeout)
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
	ctx context.Context
	env *Env
}

func (b bound) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.ctx.Err() != nil {
		return nil, b.ctx.Err()
	}
	ctx, cancel := context.WithTimeout(b.ctx, clientTimeout)
	res, err := traced{b.env, http.DefaultTransport}.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, errors.Join(err, b.ctx.Err())
	}
	res.Body = closer{res.Body, cancel}
	return res, nil
}
