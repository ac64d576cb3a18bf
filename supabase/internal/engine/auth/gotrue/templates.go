package gotrue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"daawo/supabase/internal/engine/auth/external/idp"
)

// remoteTemplates are the mail templates that are fetched: before the server starts, and again when
// they are old. A request never waits for them.
type remoteTemplates struct {
	urls    map[string]string // by kind
	maxSize int               // in bytes
	maxAge  time.Duration     // after which they are fetched again
	retry   time.Duration     // after a failure
	client  *http.Client
}

// templateTimeout bounds one fetch.
const templateTimeout = 5 * time.Second

// remoteTemplates reads which templates have a URL. Private addresses are refused, whatever a name
// resolves to, unless the operator allows them.
func (e *env) remoteTemplates() remoteTemplates {
	t := remoteTemplates{
		urls: map[string]string{}, maxSize: e.int("MAILER_TEMPLATE_MAX_SIZE", 1_000_000),
		maxAge: e.duration("MAILER_TEMPLATE_MAX_AGE", 10*time.Minute),
		retry:  e.duration("MAILER_TEMPLATE_RETRY_INTERVAL", 10*time.Second),
		client: &http.Client{Timeout: templateTimeout, Transport: idp.SafeTransport()},
	}
	if e.flag("MAILER_TEMPLATE_ALLOW_PRIVATE", false) {
		t.client.Transport = &http.Transport{DisableKeepAlives: true}
	}
	for _, upper := range templates {
		name := "MAILER_TEMPLATES_" + upper
		address := e.text(name, "")
		scheme, _, remote := strings.Cut(address, "://")
		if remote && scheme != "http" && scheme != "https" {
			e.errs = append(e.errs, fmt.Errorf("GOTRUE_%s: %q is neither a file nor an http URL", name, address))
		} else if remote {
			t.urls[strings.ToLower(upper)] = address
		}
	}
	return t
}

// refresh fetches the templates once and replaces those that have changed. Without a first copy the
// built-in text stays. It returns the error of any that failed.
func (t remoteTemplates) refresh(ctx context.Context, replace func(kind, body string) error) error {
	var errs []error
	for kind, address := range t.urls {
		body, err := t.fetch(ctx, address)
		if err == nil {
			err = replace(kind, body)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("mail template %s: %w", kind, err))
		}
	}
	return errors.Join(errs...)
}

func (t remoteTemplates) fetch(ctx context.Context, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	response, err := t.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answered %d", address, response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(t.maxSize)+1))
	switch {
	case err != nil:
		return "", err
	case len(body) > t.maxSize:
		return "", fmt.Errorf("%s has more than %d bytes", address, t.maxSize)
	case !utf8.Valid(body):
		return "", fmt.Errorf("%s is not UTF-8", address)
	}
	return string(body), nil
}

// keep refreshes the templates until ctx ends. first is the error of the first fetch.
func (t remoteTemplates) keep(ctx context.Context, first error, replace func(kind, body string) error,
	log *slog.Logger) {
	for err := first; ; {
		wait := t.maxAge
		if err != nil {
			log.WarnContext(ctx, "mail templates not fetched; the last ones or the built-in ones are used", "error", err)
			wait = t.retry
		}
		select {
		case <-time.After(max(wait, time.Second)):
			err = t.refresh(ctx, replace)
		case <-ctx.Done():
			return
		}
	}
}
