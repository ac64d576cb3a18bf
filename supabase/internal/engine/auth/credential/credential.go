// Package credential checks and hashes passwords by the rules of the installation, with the replies
// of the API.
package credential

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/password"
	"daawo/supabase/internal/engine/auth/store"
)

// DefaultCost is the cost of bcrypt in GoTrue.
const DefaultCost = 10

// Options are the rules for passwords.
type Options struct {
	MinLength int
	Required  []string // a password needs a character of each of these sets
	Leaked    string   // file of SHA-1 hashes, sorted; "" checks nothing
	Online    Online   // asks a service for leaked passwords
	Cost      int      // of bcrypt
	AtOnce    int      // number of passwords that are hashed at the same time
	Client    *http.Client
	Log       *slog.Logger
}

// Passwords checks and hashes passwords.
type Passwords struct {
	*password.Hasher
	rules password.Rules
}

// New returns Passwords.
func New(o Options) *Passwords {
	p := &Passwords{
		Hasher: password.NewHasher(o.Cost, o.AtOnce),
		rules:  password.Rules{MinLength: o.MinLength, Required: o.Required},
	}
	if o.Leaked != "" {
		p.rules.Leaked = append(p.rules.Leaked, password.LeakedFile(o.Leaked))
	}
	if o.Online.Enabled {
		p.rules.Leaked = append(p.rules.Leaked, service{o.Online, o.Client, o.Log}.leaked)
	}
	return p
}

// Check returns the reply to a new password that breaks the rules; nil if it keeps them.
func (p *Passwords) Check(ctx context.Context, text string) error {
	if len(text) > password.MaxLength {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Password cannot be longer than %d characters", password.MaxLength)
	}
	err := p.rules.Judge(ctx, text)
	var weak *password.Weakness
	if !errors.As(err, &weak) {
		return err
	}
	refusal := apierror.Errorf(http.StatusUnprocessableEntity, "weak_password", "%s", weak.Message)
	refusal.Details = endpoint.WeakPassword{Reasons: weak.Reasons}
	return refusal
}

// Weakness returns how a password that was accepted earlier breaks today's rules; nil if it keeps
// them.
func (p *Passwords) Weakness(ctx context.Context, text string) *password.Weakness {
	var weak *password.Weakness
	if !errors.As(p.rules.Judge(ctx, text), &weak) {
		return nil
	}
	return weak
}

// MatchesUser reports whether text is the password of u, who has one.
func (p *Passwords) MatchesUser(ctx context.Context, u *store.User, text string) (bool, error) {
	if len(text) > password.MaxLength {
		return false, nil
	}
	return p.Matches(ctx, *u.EncryptedPassword, text)
}

// MatchUnknown takes as long as MatchesUser, so that the time of a reply does not tell whether an
// account exists.
func (p *Passwords) MatchUnknown(ctx context.Context, text string) error {
	if len(text) > password.MaxLength {
		return nil
	}
	return p.MatchDummy(ctx, text)
}

// Random returns a password for an account that signs in by other means. It is not stored in clear.
func (p *Passwords) Random() string { return password.Random(p.rules.Required, 64) }
