package keyring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/keys"
)

const (
	every     = 10 * time.Minute // between two fetches
	prompted  = 30 * time.Second // least time between two fetches if a token names an unknown key
	firstWait = time.Second      // before the second attempt if a fetch fails; it doubles
	maxWait   = time.Minute
	maxAge    = 24 * time.Hour // keys that could not be fetched for so long are dropped
	timeout   = 10 * time.Second
	maxBody   = 1 << 20 // bytes of a document
)

// WatchIssuer accepts the tokens of the issuer of [auth.third_party] while the stack serves. Auth
// itself does not accept them, as upstream.
func (k *Keyring) WatchIssuer(in installation.Installation) {
	url, audience := in.Config.Auth.ThirdParty.Issuer()
	if url == "" {
		return
	}
	log := in.Log.With("part", "issuer")
	var elsewhere []string
	for _, u := range []struct{ name, url string }{
		{"REST_URL", in.Config.RESTURL}, {"STORAGE_URL", in.Config.StorageURL}, {"REALTIME_URL", in.Config.RealtimeURL},
		{"FUNCTIONS_URL", in.Config.FunctionsURL},
	} {
		if u.url != "" {
			elsewhere = append(elsewhere, u.name)
		}
	}
	if len(elsewhere) > 0 {
		log.Warn("services that run elsewhere need the keys of the third-party issuer in their own settings", "issuer",
			url, "services", elsewhere)
	}
	in.Background("third-party issuer", func(ctx context.Context) {
		watchIssuer(ctx, issuerOptions{URL: url, Audience: audience, Unknown: k.unknown, Use: k.trust, Log: log})
	})
}

// issuerOptions configure watchIssuer.
type issuerOptions struct {
	URL      string                // of the issuer; OpenID Connect discovery is below it
	Audience string                // aud of its tokens; "" for any
	Unknown  <-chan struct{}       // receives a value when a token names an unknown key
	Use      func(keys []keys.Key) // called when the keys have changed
	Log      *slog.Logger
	Client   *http.Client // nil means one with time limits
}

// watchIssuer fetches the keys and calls Use until ctx ends. A failure is logged and the fetch
// repeated; the keys of the last success are used for a day.
func watchIssuer(ctx context.Context, o issuerOptions) {
	if o.Client == nil {
		o.Client = newIssuerClient()
	}
	var last string
	var fetched time.Time
	wait := firstWait
	for {
		next := every
		found, err := fetch(ctx, o)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			o.Log.Warn("keys of the third-party issuer could not be fetched", "issuer", o.URL, "error", err, "retry",
				wait.String())
			if last != "" && time.Since(fetched) > maxAge {
				last = ""
				o.Use(nil)
			}
			next, wait = wait, min(2*wait, maxWait)
		default:
			fetched, wait = time.Now(), firstWait
			if text := string(keys.JWKS(found)); text != last {
				o.Log.Info("tokens of the third-party issuer are accepted", "issuer", o.URL, "keys", len(found))
				last = text
				o.Use(found)
			}
		}
		if !pause(ctx, next, o.Unknown) {
			return
		}
	}
}

// pause waits for the time, or for a token with an unknown key but at least for prompted. It
// returns false if ctx ends.
func pause(ctx context.Context, wait time.Duration, unknown <-chan struct{}) bool {
	began := time.Now()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait - time.Since(began)):
			return true
		case <-unknown:
			wait, unknown = min(wait, max(prompted, time.Since(began))), nil
		}
	}
}

// newIssuerClient returns a client with limits. It follows redirects to https only.
func newIssuerClient() *http.Client {
	return &http.Client{
		Timeout: timeout,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > 3 {
				return errors.New("too many redirects")
			}
			return checkURL(r.URL.String(), via[0].URL.Scheme == "http")
		},
	}
}

// checkURL returns an error unless the URL is one of https, or with local one of http on this
// machine.
func checkURL(text string, local bool) error {
	u, err := url.Parse(text)
	if err != nil {
		return err
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "https" && u.Host != "" || local && u.Scheme == "http" &&
		(u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("%q does not start with https://", text)
}

// fetch returns the present keys of the issuer.
func fetch(ctx context.Context, o issuerOptions) ([]keys.Key, error) {
	local := strings.HasPrefix(o.URL, "http://")
	var discovery struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	address := strings.TrimSuffix(o.URL, "/") + "/.well-known/openid-configuration"
	text, err := get(ctx, o.Client, address, local)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &discovery); err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if discovery.JWKSURI == "" {
		return nil, fmt.Errorf("%s: jwks_uri is missing", address)
	}
	if text, err = get(ctx, o.Client, discovery.JWKSURI, local); err != nil {
		return nil, err
	}
	issuer := keys.Issuer{Names: []string{o.URL}, Audience: o.Audience}
	if discovery.Issuer != "" {
		issuer.Names = append(issuer.Names, discovery.Issuer)
	}
	found, err := keys.ParseIssuerKeys(text, issuer)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", discovery.JWKSURI, err)
	}
	return found, nil
}

// get returns the body of a reply with status 200.
func get(ctx context.Context, client *http.Client, address string, local bool) ([]byte, error) {
	if err := checkURL(address, local); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	res, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", address, res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err == nil && len(body) > maxBody {
		err = fmt.Errorf("%s: more than %d bytes", address, maxBody)
	}
	return body, err
}
