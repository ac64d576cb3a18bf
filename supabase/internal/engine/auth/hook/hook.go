// Package hook calls the auth hooks: database functions, in the caller's transaction, and HTTP
// services, with requests signed according to Standard Webhooks.
package hook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
)

// Hook is the configuration of one hook. The zero Hook is disabled.
type Hook struct {
	URI     string   // pg-functions://postgres/SCHEMA/FUNCTION, https://…, or http:// on this machine
	Secrets []string // v1,whsec_BASE64; every secret signs each request
}

// Enabled reports whether the hook is configured.
func (h Hook) Enabled() bool { return h.URI != "" }

// InDatabase reports whether the hook is a database function, which needs a transaction.
func (h Hook) InDatabase() bool { return strings.HasPrefix(h.URI, "pg-functions:") }

// Limits of GoTrue.
const (
	timeout         = 5 * time.Second // of an HTTP hook, retries included
	attempts        = 3
	pause           = 2 * time.Second // after an attempt that reached no service
	maxReply        = 200 << 10       // bytes
	functionTimeout = "2000"          // milliseconds, of a database function
)

// Validate returns an error for an unsupported URI or a malformed secret.
func (h Hook) Validate() error {
	if h.URI == "" {
		return nil
	}
	u, err := url.Parse(h.URI)
	if err != nil {
		return err
	}
	switch u.Scheme {
	case "pg-functions":
		_, err := function(u)
		return err
	case "http":
		switch u.Hostname() {
		case "localhost", "127.0.0.1", "::1", "host.docker.internal":
		default:
			return errors.New("http is allowed for this machine only; use https")
		}
	case "https":
	default:
		return fmt.Errorf("unsupported scheme %q; use pg-functions or https", u.Scheme)
	}
	for _, s := range h.Secrets {
		if _, err := secret(s); err != nil {
			return err
		}
	}
	return nil
}

// function returns the quoted function name of a pg-functions URI.
func function(u *url.URL) (string, error) {
	parts := strings.Split(u.Path, "/")
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
		return "", errors.New("the URI must be pg-functions://postgres/SCHEMA/FUNCTION")
	}
	return pgx.Identifier{parts[1], parts[2]}.Sanitize(), nil
}

func secret(text string) ([]byte, error) {
	rest, ok := strings.CutPrefix(text, "v1,whsec_")
	if !ok {
		return nil, errors.New("a secret must begin with v1,whsec_")
	}
	return base64.StdEncoding.DecodeString(rest)
}

// Caller calls hooks.
type Caller struct {
	Client *http.Client     // nil means http.DefaultClient
	Now    func() time.Time // nil means time.Now
}

// Call sends input to the hook and decodes the reply into output. If the hook replies with an
// error, Call returns it as a *apierror.Error. tx is used only for database functions.
func (c Caller) Call(ctx context.Context, tx pgx.Tx, h Hook, input, output any) error {
	payload, err := json.Marshal(input)
	if err != nil {
		return err
	}
	u, err := url.Parse(h.URI)
	if err != nil {
		return err
	}
	var reply []byte
	if u.Scheme == "pg-functions" {
		reply, err = callFunction(ctx, tx, u, payload)
	} else {
		reply, err = c.post(ctx, h, payload)
	}
	if err != nil || len(reply) == 0 {
		return err
	}
	var failure struct {
		Error *struct {
			Code    int    `json:"http_code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(reply, &failure) == nil && failure.Error != nil && failure.Error.Message != "" {
		status := failure.Error.Code
		if status < 400 || status > 599 {
			status = http.StatusInternalServerError
		}
		return apierror.Errorf(status, "", "%s", failure.Error.Message)
	}
	if err := json.Unmarshal(reply, output); err != nil {
		return apierror.Errorf(http.StatusInternalServerError, "unexpected_failure",
			"Error unmarshaling JSON output.").WithCause(err)
	}
	return nil
}

// callFunction runs a database function with a statement timeout of functionTimeout.
func callFunction(ctx context.Context, tx pgx.Tx, u *url.URL, payload []byte) ([]byte, error) {
	name, err := function(u)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `select set_config('statement_timeout', $1, true)`, functionTimeout); err != nil {
		return nil, err
	}
	var reply []byte
	if err := tx.QueryRow(ctx, `select `+name+`($1::jsonb)::text`, string(payload)).Scan(&reply); err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `set local statement_timeout to default`)
	return reply, err
}

// post calls an HTTP service. It retries when the service is unreachable, and at once when the
// service asks for a retry (see read).
func (c Caller) post(ctx context.Context, h Hook, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	late := apierror.Errorf(http.StatusUnprocessableEntity, "hook_timeout",
		"Failed to reach hook within maximum time of %f seconds", timeout.Seconds())
	id := uuid.NewString() // the same for all attempts: a service that knows it does its work once
	for attempt := range attempts {
		request, err := c.request(ctx, h, id, payload)
		if err != nil {
			return nil, err
		}
		response, err := c.client().Do(request)
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, late.WithCause(err)
		}
		if err != nil && attempt == attempts-1 {
			return nil, apierror.Errorf(http.StatusUnprocessableEntity, "hook_timeout_after_retry",
				"Failed to reach hook after maximum retries").WithCause(err)
		}
		if err != nil {
			select {
			case <-ctx.Done():
				return nil, late
			case <-time.After(pause):
			}
			continue
		}
		body, retry, err := read(response)
		if !retry {
			return body, err
		}
	}
	return nil, errUnavailable
}

var errUnavailable = apierror.Errorf(http.StatusInternalServerError, "unexpected_failure",
	"Service currently unavailable due to hook")

func (c Caller) client() *http.Client {
	if c.Client != nil {
		return c.Client
	}
	return http.DefaultClient
}

// request returns a signed request: HMAC-SHA-256 over id, time and body, once for each secret.
func (c Caller) request(ctx context.Context, h Hook, id string, payload []byte) (*http.Request, error) {
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	at := strconv.FormatInt(now().Unix(), 10)
	var signatures []string
	for _, text := range h.Secrets {
		key, err := secret(text)
		if err != nil {
			return nil, err
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, at, payload)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URI, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", at)
	r.Header.Set("webhook-signature", strings.Join(signatures, ", "))
	return r, nil
}

// checkType returns an error for a reply that is not JSON.
func checkType(header string) error {
	kind, _, err := mime.ParseMediaType(header)
	problem := "Invalid JSON response. Received content-type: " + header
	switch {
	case header == "":
		problem = "Invalid Content-Type: Missing Content-Type header"
	case err != nil:
		problem = "Invalid Content-Type header: " + err.Error()
	case kind == "application/json":
		return nil
	}
	return apierror.Errorf(http.StatusBadRequest, "hook_payload_invalid_content_type", "%s", problem)
}

// read reads and closes the response. It returns retry for 429 and 503 with a Retry-After header.
func read(response *http.Response) (body []byte, retry bool, err error) {
	defer response.Body.Close()
	failed := func(format string, args ...any) ([]byte, bool, error) {
		return nil, false, apierror.Errorf(http.StatusInternalServerError, "unexpected_failure", format, args...)
	}
	switch response.StatusCode {
	case http.StatusNoContent:
		return nil, false, nil
	case http.StatusOK, http.StatusAccepted:
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if response.Header.Get("Retry-After") != "" {
			return nil, true, nil
		}
		return nil, false, errUnavailable
	case http.StatusBadRequest:
		return failed("Invalid payload sent to hook")
	case http.StatusUnauthorized:
		return failed("Hook requires authorization token")
	default:
		return failed("Unexpected status code returned from hook: %d", response.StatusCode)
	}
	if err := checkType(response.Header.Get("Content-Type")); err != nil {
		return nil, false, err
	}
	body, err = io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	if err != nil {
		return nil, false, err
	}
	if len(body) > maxReply {
		return nil, false, apierror.Errorf(http.StatusUnprocessableEntity, "hook_payload_over_size_limit",
			"Payload size exceeded size limit of %d bytes", maxReply)
	}
	return body, false, nil
}
