package auth

import (
	"context"
	"errors"
	"net/http"

	"daawo/supabase/internal/auth/password"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// passwordCost is bcrypt's, GoTrue's.
const passwordCost = 10

func (e *Engine) rules() password.Rules {
	return password.Rules{MinLength: e.config.MinimumPasswordLength, Required: e.config.RequiredCharacters, Leaked: e.config.LeakedPasswords}
}

// checkPassword says what is too weak about a new password; nil when nothing is.
func (e *Engine) checkPassword(text string) error {
	if len(text) > password.MaxLength {
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "Password cannot be longer than %d characters", password.MaxLength)
	}
	err := e.rules().Judge(text)
	var weak *password.Weakness
	if !errors.As(err, &weak) {
		return err
	}
	refusal := wire.Errorf(http.StatusUnprocessableEntity, "weak_password", "%s", weak.Message)
	refusal.Details = wire.WeakPassword{Reasons: weak.Reasons}
	return refusal
}

// weakness is what a client is told who signs in with a password that is weaker than today's rules.
func (e *Engine) weakness(text string) *weakPassword {
	var weak *password.Weakness
	if !errors.As(e.rules().Judge(text), &weak) {
		return nil
	}
	return &weakPassword{Message: weak.Message, Reasons: weak.Reasons}
}

// matches says whether the password is the user's, when its turn comes.
func (e *Engine) matches(ctx context.Context, u *store.User, text string) (bool, error) {
	if len(text) > password.MaxLength {
		return false, nil
	}
	return e.hasher.Matches(ctx, *u.EncryptedPassword, text)
}

// matchesNobody takes the time of matches where nobody has the password: how long a refusal takes does not tell who exists.
func (e *Engine) matchesNobody(ctx context.Context, text string) error {
	if len(text) > password.MaxLength {
		return nil
	}
	return e.hasher.MatchNobody(ctx, text)
}

// unknownPassword is for accounts that sign in by other means: nobody knows it.
func (e *Engine) unknownPassword() string { return password.Random(e.config.RequiredCharacters, 64) }

func newCode(digits int) string { return password.Code(digits) }
