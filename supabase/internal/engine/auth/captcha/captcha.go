// Package captcha checks the captcha token of a request with the provider of the captcha.
package captcha

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
)

// Config is the captcha's configuration.
type Config struct {
	Provider string // hcaptcha or turnstile; "" turns the captcha off
	Secret   string
	URL      string // address of the provider; its usual one when empty
	Timeout  time.Duration
}

// Validate returns an error if the provider is unknown.
func (c Config) Validate() error {
	switch c.Provider {
	case "", "hcaptcha", "turnstile":
		return nil
	}
	return fmt.Errorf("captcha provider %q is neither hcaptcha nor turnstile", c.Provider)
}

// Checker checks captchas.
type Checker struct {
	config Config
	client *http.Client
	exempt func(*http.Request) bool
}

// New returns a Checker. Requests for which exempt returns true need no captcha.
func New(c Config, client *http.Client, exempt func(*http.Request) bool) *Checker {
	return &Checker{config: c, client: client, exempt: exempt}
}

// Required checks the captcha of a request before it calls h.
func (c *Checker) Required(h endpoint.Handler) endpoint.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := c.Check(r); err != nil {
			return err
		}
		return h(w, r)
	}
}

// Check checks the token in the member gotrue_meta_security of the body.
func (c *Checker) Check(r *http.Request) error {
	if c.config.Provider == "" || c.exempt(r) {
		return nil
	}
	body, err := endpoint.ReadBody(r)
	if err != nil {
		return err
	}
	var p struct {
		Security struct {
			Token string `json:"captcha_token"`
		} `json:"gotrue_meta_security"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return endpoint.BadJSON(err)
	}
	token := strings.TrimSpace(p.Security.Token)
	if token == "" {
		return apierror.Errorf(http.StatusBadRequest, "captcha_failed",
			"captcha protection: request disallowed (no captcha_token found)")
	}
	problems, err := c.ask(r, token)
	if err != nil {
		return apierror.Errorf(http.StatusInternalServerError, "", "captcha verification process failed").WithCause(err)
	}
	if problems != nil {
		return apierror.Errorf(http.StatusBadRequest, "captcha_failed", "captcha protection: request disallowed (%s)",
			strings.Join(problems, ", "))
	}
	return nil
}

// ask returns nil if the provider accepts the token, else its reasons.
func (c *Checker) ask(r *http.Request, token string) ([]string, error) {
	address := c.config.URL
	if address == "" {
		address = map[string]string{
			"hcaptcha":  "https://hcaptcha.com/siteverify",
			"turnstile": "https://challenges.cloudflare.com/turnstile/v0/siteverify",
		}[c.config.Provider]
	}
	ctx, cancel := context.WithTimeout(r.Context(), c.config.Timeout)
	defer cancel()
	form := url.Values{"secret": {c.config.Secret}, "response": {token}, "remoteip": {endpoint.ClientOf(r).Address}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Success bool     `json:"success"`
		Errors  []string `json:"error-codes"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<16)).Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Success {
		return nil, nil
	}
	return append([]string{}, answer.Errors...), nil
}
