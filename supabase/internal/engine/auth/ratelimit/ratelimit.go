// Package ratelimit counts requests, guesses and messages in leaky buckets. The buckets are rows of
// the database, so that replicas share them.
package ratelimit

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/base/network"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/endpoint"
)

// Limits are the numbers of the rules. Zero means no limit.
type Limits struct {
	Header string // header that names the client in its first value; "" turns off the limits per client

	EmailPerHour int // of all clients together; negative allows none
	SMSPerHour   int

	// Burst is how many requests of one kind a client may send at once, before the numbers below
	// apply; GoTrue's is 30. Zero allows the number itself at once, which suits many people behind
	// one address.
	Burst int

	Mail MailLimits

	// Per client.
	AnonymousPerHour    int
	TokenRefreshPerFive int // per five minutes; all grants; redirects to providers, which store a flow
	SignInSignUpPerFive int // of each: sign-ups, links, codes, recoveries, resends, changes of an account
	VerificationPerFive int
	ChallengePerMinute  int // of second factors, and answers; twice as many at once
	Web3PerFive         int
	PasskeyPerFive      int
	SSOPerFive          int // requests to begin a single sign-on
	SAMLPerFive         int // responses of SAML providers

	OAuthRegisterPerFive int // applications that register themselves
}

// MailLimits limit the requests for mails, also those to addresses without an account. A Gap of
// zero means no limit.
type MailLimits struct {
	Gap        time.Duration // between two requests for one address
	PerAddress int           // in an hour
	PerNetwork int           // in an hour, of one client
}

// Rule says how often a client may do something.
type Rule struct {
	name    string
	count   func(Limits) int
	per     time.Duration
	noBurst bool // Limits.Burst does not apply
}

// ofClient returns the bucket of one client.
func (rule Rule) ofClient(l Limits, most int) bucket {
	b := bucketOf(most, rule.per)
	if l.Burst > 0 && !rule.noBurst {
		b.capacity = float64(l.Burst)
	}
	return b
}

// The rules of the endpoints.
var (
	Anonymous = Rule{"anonymous", func(l Limits) int { return l.AnonymousPerHour }, time.Hour, true}
	Token     = Rule{"token", func(l Limits) int { return l.TokenRefreshPerFive }, 5 * time.Minute, false}
	Authorize = Rule{"authorize", func(l Limits) int { return l.TokenRefreshPerFive }, 5 * time.Minute, false}
	Signup    = signInRule("signup")
	OTP       = signInRule("otp")
	MagicLink = signInRule("magiclink")
	Recover   = signInRule("recover")
	Resend    = signInRule("resend")
	User      = signInRule("user")
	Verify    = Rule{"verify", func(l Limits) int { return l.VerificationPerFive }, 5 * time.Minute, false}
	OAuth     = Rule{"oauth", func(l Limits) int { return l.TokenRefreshPerFive }, 5 * time.Minute, false}
	Register  = Rule{"register", func(l Limits) int { return l.OAuthRegisterPerFive }, 5 * time.Minute, false}
	Passkey   = Rule{"passkey", func(l Limits) int { return l.PasskeyPerFive }, 5 * time.Minute, false}
	SSO       = Rule{"sso", func(l Limits) int { return l.SSOPerFive }, 5 * time.Minute, false}
	SAML      = Rule{"saml", func(l Limits) int { return l.SAMLPerFive }, 5 * time.Minute, false}

	// Challenge and FactorAnswer let a client use two minutes' challenges at once, because a
	// mistyped code needs another one.
	Challenge    = Rule{"factor challenge", twiceChallenges, 2 * time.Minute, false}
	FactorAnswer = Rule{"factor verify", twiceChallenges, 2 * time.Minute, false}
	// Factor counts guesses at one factor, without that allowance.
	Factor = Rule{"factor", func(l Limits) int { return l.ChallengePerMinute }, time.Minute, false}
)

// signInRule returns a rule of its own with the limit of sign-ins and sign-ups.
func signInRule(name string) Rule {
	return Rule{name, func(l Limits) int { return l.SignInSignUpPerFive }, 5 * time.Minute, false}
}

func twiceChallenges(l Limits) int { return 2 * l.ChallengePerMinute }

// Limiter counts.
type Limiter struct {
	DB     *pool.Pool // as supabase_auth_admin
	Log    *slog.Logger
	Now    func() time.Time
	Limits Limits

	FreeMail, FreeSMS bool // messages are not counted: without confirmations few are sent

	inFlight inFlight
}

// Limited counts a request before it calls h.
func (l *Limiter) Limited(rule Rule, h endpoint.Handler) endpoint.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := l.Limit(r, rule); err != nil {
			return err
		}
		return h(w, r)
	}
}

// Limit counts one request of a client, which the configured header names, and of its networks.
// Without the header nothing is counted, as in GoTrue.
func (l *Limiter) Limit(r *http.Request, rule Rule) error {
	most := rule.count(l.Limits)
	if most <= 0 {
		return nil
	}
	return l.count(r.Context(), l.ofNetworks(r, rule.name, rule.ofClient(l.Limits, most))...)
}

// ofNetworks returns a drop for each network of the client of r. b is the bucket of one client.
func (l *Limiter) ofNetworks(r *http.Request, name string, b bucket) (drops []drop) {
	if l.Limits.Header == "" {
		return nil
	}
	client, _, _ := strings.Cut(r.Header.Get(l.Limits.Header), ",")
	for _, part := range network.Of(strings.TrimSpace(client)) {
		drops = append(drops, drop{name + " " + part.Key, b.times(part.Share)})
	}
	return drops
}

// LimitMail counts a request for a mail to an address, which may belong to no account, and refuses
// it beyond the limits of Limits.Mail.
func (l *Limiter) LimitMail(r *http.Request, address string) error {
	m := l.Limits.Mail
	if m.Gap <= 0 {
		return nil
	}
	return l.countMail(r.Context(), address, l.ofNetworks(r, "mail from", bucketOf(m.PerNetwork, time.Hour))...)
}

// LimitSignup is LimitMail for a sign-up, which has a limit per network of its own.
func (l *Limiter) LimitSignup(r *http.Request, address string) error {
	if l.Limits.Mail.Gap <= 0 {
		return nil
	}
	return l.countMail(r.Context(), address)
}

func (l *Limiter) countMail(ctx context.Context, address string, drops ...drop) error {
	m := l.Limits.Mail
	room, err := l.pour(ctx, append(drops, drop{"mail gap " + address, bucketOf(1, m.Gap)},
		drop{"mail to " + address, bucketOf(m.PerAddress, time.Hour)})...)
	if err == nil && !room {
		return errMail
	}
	return err
}

var errMail = apierror.Errorf(http.StatusTooManyRequests, "over_email_send_rate_limit", "email rate limit exceeded")

// LimitSubject counts one guess at a code of subject: an address, a number, a factor or a user.
// Guesses from many clients share the limit of one client.
func (l *Limiter) LimitSubject(ctx context.Context, rule Rule, subject string) error {
	most := rule.count(l.Limits)
	if most <= 0 || subject == "" {
		return nil
	}
	return l.count(ctx, drop{rule.name + " of " + subject, bucketOf(most, rule.per)})
}

func (l *Limiter) count(ctx context.Context, drops ...drop) error {
	ok, err := l.pour(ctx, drops...)
	if err == nil && !ok {
		return apierror.Errorf(http.StatusTooManyRequests, "over_request_rate_limit", "Request rate limit reached")
	}
	return err
}

// TooSoon refuses a message that would follow the last one, sent at sentAt, within gap. A time in
// the far future comes from a wrong clock and does not count.
func (l *Limiter) TooSoon(sentAt *time.Time, gap time.Duration, code string) error {
	if sentAt == nil || gap <= 0 || !sentAt.Add(gap).After(l.Now()) || sentAt.After(l.Now().Add(gap)) {
		return nil
	}
	left := int(sentAt.Add(gap).Sub(l.Now()) / time.Second)
	return apierror.Errorf(http.StatusTooManyRequests, code,
		"For security purposes, you can only request this after %d seconds.", left)
}
