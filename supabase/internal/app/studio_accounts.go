package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/gateway"
)

// studioAccounts signs in the accounts that may open Studio: those for which the SQL expression of
// StudioAccess is true.
type studioAccounts struct {
	*services
	db func() (*pool.Pool, error) // opened at the first login
}

// newStudioAccounts returns the sign-in of Studio's login, nil if no account may open it.
func (s *services) newStudioAccounts() gateway.SignIn {
	if s.StudioAccess == "" || s.db == nil {
		return nil
	}
	a := &studioAccounts{services: s, db: sync.OnceValues(func() (*pool.Pool, error) {
		return s.pools.open(context.Background(), s.db.URL("postgres"), "Studio's login", 2)
	})}
	return a.signIn
}

// signIn opens a session of auth, with a code of an authenticator app if there is one.
func (a *studioAccounts) signIn(ctx context.Context, user, password, code string) (func(context.Context) bool, error) {
	var session struct {
		Token string `json:"access_token"`
		User  struct {
			Factors []struct {
				ID, Status string
				Type       string `json:"factor_type"`
			}
		}
	}
	err := a.ask(ctx, "/token?grant_type=password", "", map[string]string{"email": user, "password": password}, &session)
	if err != nil {
		return nil, err
	}
	token := session.Token
	for _, f := range session.User.Factors {
		if code == "" || f.Status != "verified" || f.Type != "totp" {
			continue
		}
		if token, err = a.verifyFactor(ctx, session.Token, f.ID, code); err == nil {
			break
		}
	}
	var claims []byte
	if err == nil {
		claims, err = verifier(a.keys)(token)
	}
	ok := false
	if err == nil {
		ok, err = a.mayOpen(ctx, string(claims))
	}
	if err != nil || !ok {
		_ = a.ask(ctx, "/logout?scope=local", session.Token, nil, nil) // it gives access to nothing here
		if err == nil {
			err = gateway.ErrNotAllowed
		} else if !errors.Is(err, gateway.ErrNotAllowed) {
			a.Log.Error("an account cannot sign in to Studio", "error", err)
		}
		return nil, err
	}
	return func(ctx context.Context) bool {
		ok, err := a.mayOpen(ctx, string(claims))
		if err != nil {
			a.Log.Warn("an account of Studio is not checked again", "error", err)
		}
		return ok && err == nil
	}, nil
}

// verifyFactor returns the token of a session whose second factor is verified.
func (a *studioAccounts) verifyFactor(ctx context.Context, token, factor, code string) (string, error) {
	var challenge struct{ ID string }
	if err := a.ask(ctx, "/factors/"+factor+"/challenge", token, map[string]string{}, &challenge); err != nil {
		return "", err
	}
	var verified struct {
		Token string `json:"access_token"`
	}
	err := a.ask(ctx, "/factors/"+factor+"/verify", token, map[string]string{"challenge_id": challenge.ID, "code": code},
		&verified)
	return verified.Token, err
}

// mayOpen reports whether StudioAccess is true for the holder of a token with these claims.
func (a *studioAccounts) mayOpen(ctx context.Context, claims string) (ok bool, err error) {
	db, err := a.db()
	if err != nil {
		return false, err
	}
	err = db.Tx(ctx, pool.Caller{Claims: claims}, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, "select coalesce("+a.StudioAccess+", false)").Scan(&ok)
	})
	return ok, err
}

// maxAuthReply is the size of a reply of auth, in bytes.
const maxAuthReply = 1 << 20

// ask sends a request to auth. The error is gateway.ErrNotAllowed if auth refuses it.
func (a *studioAccounts) ask(ctx context.Context, path, token string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Inside+"/auth/v1"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Apikey", a.keys.Current().Anon)
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(res.Body, maxAuthReply))
	switch {
	case err != nil:
		return err
	case res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("auth replied %s", res.Status)
	case res.StatusCode >= 400:
		return gateway.ErrNotAllowed
	case into == nil:
		return nil
	}
	return json.Unmarshal(reply, into)
}
