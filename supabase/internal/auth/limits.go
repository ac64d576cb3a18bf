package auth

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// limited is something that a client may do so often.
type limited struct {
	name  string
	count func(Limits) int
	per   time.Duration
}

var (
	limitAnonymous = limited{"anonymous", func(l Limits) int { return l.AnonymousPerHour }, time.Hour}
	limitToken     = limited{"token", func(l Limits) int { return l.TokenRefreshPerFive }, 5 * time.Minute}
	limitSignup    = limitedSignIn("signup")
	limitOTP       = limitedSignIn("otp")
	limitMagicLink = limitedSignIn("magiclink")
	limitRecover   = limitedSignIn("recover")
	limitResend    = limitedSignIn("resend")
	limitUser      = limitedSignIn("user")
	limitVerify    = limited{"verify", func(l Limits) int { return l.VerificationPerFive }, 5 * time.Minute}
	limitOAuth     = limited{"oauth", func(l Limits) int { return l.TokenRefreshPerFive }, 5 * time.Minute}
	limitRegister  = limited{"register", func(l Limits) int { return l.OAuthRegisterPerFive }, 5 * time.Minute}
	limitPasskey   = limited{"passkey", func(l Limits) int { return l.PasskeyPerFive }, 5 * time.Minute}

	// A client may ask for two minutes' challenges at once, and answer as many: whoever mistypes starts anew. Guesses at one
	// factor are counted without that.
	limitChallenge = limited{"factor challenge", twiceTheChallenges, 2 * time.Minute}
	limitAnswer    = limited{"factor verify", twiceTheChallenges, 2 * time.Minute}
	limitFactor    = limited{"factor", func(l Limits) int { return l.ChallengePerMinute }, time.Minute}
)

// limitedSignIn is one of the requests of which each has the number of sign-ins and sign-ups to itself.
func limitedSignIn(name string) limited {
	return limited{name, func(l Limits) int { return l.SignInSignUpPerFive }, 5 * time.Minute}
}

func twiceTheChallenges(l Limits) int { return 2 * l.ChallengePerMinute }

// limit counts one request of a client. Who the client is, the header says that the gateway sets; without one nothing is
// counted, as GoTrue has it.
func (e *Engine) limit(r *http.Request, what limited) error {
	most := what.count(e.config.Limits)
	if most <= 0 || e.config.Limits.Header == "" {
		return nil
	}
	client, _, _ := strings.Cut(r.Header.Get(e.config.Limits.Header), ",")
	if client = network(strings.TrimSpace(client)); client == "" {
		return nil
	}
	return e.count(r.Context(), what, client, most)
}

// network is what counts of a client's address. Of IPv6 it is the network: one household has 2^64 addresses.
func network(client string) string {
	a, err := netip.ParseAddr(client)
	if err != nil {
		return client
	}
	if a = a.Unmap().WithZone(""); a.Is6() {
		return netip.PrefixFrom(a, 64).Masked().String()
	}
	return a.String()
}

// limitSubject counts one guess of a code that was sent to an address or a number, that a factor makes, or that an account was
// sent to change its password, whoever guesses: one code has no more guesses than one client, from however many addresses they
// come.
func (e *Engine) limitSubject(ctx context.Context, what limited, subject string) error {
	most := what.count(e.config.Limits)
	if most <= 0 || subject == "" {
		return nil
	}
	return e.count(ctx, what, "of "+subject, most)
}

func (e *Engine) count(ctx context.Context, what limited, whose string, most int) error {
	ok, err := e.pour(ctx, e.db.Pgx(), what.name+" "+whose, most, what.per)
	if err == nil && !ok {
		return wire.Errorf(http.StatusTooManyRequests, "over_request_rate_limit", "Request rate limit reached")
	}
	return err
}

// poured is the level with one drop more. What was noted further in the future than a bucket takes to empty was noted by a
// clock that has been wrong: nobody is kept out until that time comes.
const poured = `case when b.updated_at > $2::timestamptz + $5::interval then 0
	else greatest(0, b.level - greatest(0, extract(epoch from $2::timestamptz - b.updated_at))::float8 * $3::float8) end + 1`

// pour adds one drop to a leaky bucket that holds most and empties in per; false says that it would overflow. It is one
// statement, so that replicas cannot overtake one another. The key is hashed: nobody's address is stored.
func (e *Engine) pour(ctx context.Context, q interface {
	store.Queries
	QueryRow(context.Context, string, ...any) pgx.Row
}, key string, most int, per time.Duration) (bool, error) {
	hash := sha256.Sum256([]byte(key))
	var level float64
	err := q.QueryRow(ctx, `
		insert into auth_limits.buckets as b (key, level, updated_at) values ($1, 1, $2)
		on conflict (key) do update
		set level = `+poured+`, updated_at = $2
		where `+poured+` <= $4::float8
		returning level`,
		hash[:], e.now(), float64(most)/per.Seconds(), float64(most), per).Scan(&level)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err == nil && rand.IntN(500) == 0 { // now and then somebody sweeps
		rows, qerr := q.Query(ctx, `delete from auth_limits.buckets where updated_at < $1`, e.now().Add(-24*time.Hour))
		if qerr != nil {
			return true, qerr
		}
		rows.Close()
		err = rows.Err()
	}
	return err == nil, err
}

// levelWith is the level of a bucket with one drop more; nothing is poured and no row is held. (The query reads $4, which poured
// leaves out, for its type to be known.)
func (e *Engine) levelWith(ctx context.Context, q pgx.Tx, key string, most int, per time.Duration) (float64, error) {
	hash := sha256.Sum256([]byte(key))
	level := 1.0
	err := q.QueryRow(ctx, `select `+poured+` from auth_limits.buckets b where b.key = $1 and $4::float8 > 0`,
		hash[:], e.now(), float64(most)/per.Seconds(), float64(most), per).Scan(&level)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return level, err
}

// withCaptcha lets a handler run for humans and administrators.
func (e *Engine) withCaptcha(h func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := e.checkCaptcha(r); err != nil {
			return err
		}
		return h(w, r)
	}
}

// withLimit counts requests before a handler runs.
func (e *Engine) withLimit(what limited, h func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := e.limit(r, what); err != nil {
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
