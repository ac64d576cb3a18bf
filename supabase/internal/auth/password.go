package auth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"daawo/supabase/internal/wire"
)

const (
	passwordCost      = 10 // GoTrue's
	maxPasswordLength = 72 // bytes; bcrypt reads no further
)

// checkPassword says what is too weak about a new password; nil when nothing is.
func (e *Engine) checkPassword(password string) error {
	if len(password) > maxPasswordLength {
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "Password cannot be longer than %d characters", maxPasswordLength)
	}
	weak := e.weakness(password)
	if weak == nil {
		return nil
	}
	err := wire.Errorf(http.StatusUnprocessableEntity, "weak_password", "%s", weak.Message)
	err.Details = wire.WeakPassword{Reasons: weak.Reasons}
	return err
}

func (e *Engine) weakness(password string) *weakPassword {
	var messages, reasons []string
	if len(password) < e.config.MinimumPasswordLength {
		reasons = append(reasons, "length")
		messages = append(messages, fmt.Sprintf("Password should be at least %d characters.", e.config.MinimumPasswordLength))
	}
	for _, set := range e.config.RequiredCharacters {
		if set != "" && !strings.ContainsAny(password, set) {
			reasons = append(reasons, "characters")
			messages = append(messages, "Password should contain at least one character of each: "+strings.Join(e.config.RequiredCharacters, ", ")+".")
			break
		}
	}
	if reasons == nil {
		return nil
	}
	return &weakPassword{Message: strings.Join(messages, " "), Reasons: reasons}
}

// hash makes the bcrypt hash of a password, when its turn comes.
func (e *Engine) hash(ctx context.Context, password string) (string, error) {
	if err := e.takeTurn(ctx); err != nil {
		return "", err
	}
	defer e.endTurn()
	hashed, err := bcrypt.GenerateFromPassword([]byte(password), passwordCost)
	return string(hashed), err
}

// matches says whether the password is the user's, when its turn comes.
func (e *Engine) matches(ctx context.Context, u *User, password string) (bool, error) {
	if err := e.takeTurn(ctx); err != nil {
		return false, err
	}
	defer e.endTurn()
	err := bcrypt.CompareHashAndPassword([]byte(*u.EncryptedPassword), []byte(password))
	if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) || errors.Is(err, bcrypt.ErrPasswordTooLong) {
		return false, nil
	}
	return err == nil, err
}

// takeTurn waits until few enough passwords are being hashed: a hash costs a core for a tenth of a second, and a storm of
// logins must not take the site's cores. A client that gives up leaves the queue.
func (e *Engine) takeTurn(ctx context.Context) error {
	select {
	case e.hashing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Engine) endTurn() { <-e.hashing }

// randomPassword is for accounts that administrators make without one: nobody knows it.
func randomPassword() string {
	raw := make([]byte, 48)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(raw)
}
