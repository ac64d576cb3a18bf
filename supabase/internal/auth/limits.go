package auth

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/wire"
)

// withCaptcha lets a handler run for humans and administrators.
func (e *Engine) withCaptcha(h func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := e.checkCaptcha(r); err != nil {
			return err
		}
		return h(w, r)
	}
}

// checkCaptcha asks the captcha's provider about the token in gotrue_meta_security.
func (e *Engine) checkCaptcha(r *http.Request) error {
	c := e.config.Captcha
	if c.Provider == "" {
		return nil
	}
	if claims, err := e.bearer(r); err == nil && slices.Contains(e.config.AdminRoles, claims.Role) {
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
		return wire.Errorf(http.StatusBadRequest, "captcha_failed", "captcha protection: request disallowed (no captcha_token found)")
	}
	problems, err := e.askCaptcha(r, token)
	if err != nil {
		return wire.Errorf(http.StatusInternalServerError, "", "captcha verification process failed").WithCause(err)
	}
	if problems != nil {
		return wire.Errorf(http.StatusBadRequest, "captcha_failed", "captcha protection: request disallowed (%s)", strings.Join(problems, ", "))
	}
	return nil
}

// askCaptcha gives nil for a human and the provider's reasons otherwise.
func (e *Engine) askCaptcha(r *http.Request, token string) ([]string, error) {
	c := e.config.Captcha
	address := c.URL
	if address == "" {
		address = map[string]string{
			"hcaptcha":  "https://hcaptcha.com/siteverify",
			"turnstile": "https://challenges.cloudflare.com/turnstile/v0/siteverify",
		}[c.Provider]
	}
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()
	form := url.Values{"secret": {c.Secret}, "response": {token}, "remoteip": {endpoint.ClientOf(r).Address}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := e.client.Do(request)
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
