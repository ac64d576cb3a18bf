package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/wire"
)

// A flow is a sign-in under way: what was asked for is kept while the person is at their mailbox or at another provider.
// With a code challenge (RFC 7636) it ends with a code instead of tokens.
type flow struct {
	ID              uuid.UUID  `db:"id"`
	UserID          *uuid.UUID `db:"user_id"`
	AuthCode        string     `db:"auth_code"`
	Challenge       string     `db:"code_challenge"`
	ChallengeMethod string     `db:"code_challenge_method"`
	Provider        string     `db:"provider_type"`
	Method          string     `db:"authentication_method"`
	AccessToken     string     `db:"provider_access_token"`
	RefreshToken    string     `db:"provider_refresh_token"`
	InviteToken     string     `db:"invite_token"`
	Referrer        string     `db:"referrer"`
	ClientStateID   *uuid.UUID `db:"oauth_client_state_id"`
	LinkingTargetID *uuid.UUID `db:"linking_target_id"`
	EmailOptional   bool       `db:"email_optional"`
	CreatedAt       time.Time  `db:"created_at"`
	CodeIssuedAt    *time.Time `db:"auth_code_issued_at"`
}

func (f *flow) pkce() bool { return f.Challenge != "" }

// expired counts from when the code was given, for links that lie in a mailbox a while.
func (f *flow) expired(life time.Duration, now time.Time) bool {
	if f.CodeIssuedAt != nil && f.Method == "magiclink" {
		return now.After(f.CodeIssuedAt.Add(life))
	}
	return now.After(f.CreatedAt.Add(life))
}

var challengeForm = regexp.MustCompile(`^[a-zA-Z._~0-9-]+$`)

func checkChallenge(method, challenge string) error {
	bad := func(format string, args ...any) error {
		return wire.Errorf(http.StatusBadRequest, "validation_failed", format, args...)
	}
	switch {
	case challenge == "" && method == "":
		return nil
	case challenge == "" || method == "":
		return bad("PKCE flow requires code_challenge_method and code_challenge")
	case len(challenge) < 43 || len(challenge) > 128:
		return bad("code challenge has to be between %v and %v characters", 43, 128)
	case !challengeForm.MatchString(challenge):
		return bad("code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes")
	}
	if m := strings.ToLower(method); m != "s256" && m != "plain" {
		return bad("Invalid code_challenge_method")
	}
	return nil
}

// newFlow stores a flow; f gets its id.
func (e *Engine) newFlow(ctx context.Context, tx pgx.Tx, f flow) error {
	_, err := e.insertFlow(ctx, tx, f)
	return err
}

func (e *Engine) insertFlow(ctx context.Context, tx pgx.Tx, f flow) (uuid.UUID, error) {
	f.ID = uuid.New()
	if f.pkce() {
		f.AuthCode = uuid.NewString()
	}
	_, err := tx.Exec(ctx, `
		insert into auth.flow_state (
		  id, user_id, auth_code, code_challenge, code_challenge_method, provider_type, authentication_method,
		  provider_access_token, provider_refresh_token, invite_token, referrer, oauth_client_state_id, linking_target_id,
		  email_optional, created_at, updated_at)
		values ($1, $2, nullif($3, ''), nullif($4, ''), nullif($5, '')::auth.code_challenge_method, $6, $7, '', '',
		        nullif($8, ''), nullif($9, ''), $10, $11, $12, $13, $13)`,
		f.ID, f.UserID, f.AuthCode, f.Challenge, strings.ToLower(f.ChallengeMethod), f.Provider, f.Method,
		f.InviteToken, f.Referrer, f.ClientStateID, f.LinkingTargetID, f.EmailOptional, e.now())
	return f.ID, err
}

const selectFlow = `
	select id, user_id, coalesce(auth_code, '') auth_code, coalesce(code_challenge, '') code_challenge,
	       coalesce(code_challenge_method::text, '') code_challenge_method, provider_type, authentication_method,
	       coalesce(provider_access_token, '') provider_access_token, coalesce(provider_refresh_token, '') provider_refresh_token,
	       coalesce(invite_token, '') invite_token, coalesce(referrer, '') referrer, oauth_client_state_id, linking_target_id,
	       email_optional, coalesce(created_at, 'epoch') created_at, auth_code_issued_at
	  from auth.flow_state `

func findFlow(ctx context.Context, q queries, where string, args ...any) (*flow, error) {
	rows, err := q.Query(ctx, selectFlow+where, args...)
	if err != nil {
		return nil, err
	}
	f, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[flow])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errNotFound
	}
	return f, err
}

// issueCode ends a user's flow of a method with its code.
func (e *Engine) issueCode(ctx context.Context, tx pgx.Tx, u *User, method string) (string, error) {
	f, err := findFlow(ctx, tx, `where user_id = $1 and authentication_method = $2 order by created_at desc limit 1`, u.ID, method)
	if errors.Is(err, errNotFound) || err == nil && !f.pkce() {
		return "", wire.Errorf(http.StatusBadRequest, "flow_state_not_found", "No associated flow state found. No valid flow state found for user.")
	}
	if err != nil {
		return "", err
	}
	_, err = tx.Exec(ctx, `update auth.flow_state set auth_code_issued_at = $2, updated_at = $2 where id = $1`, f.ID, e.now())
	return f.AuthCode, err
}

// pkceGrant exchanges a code and its verifier for tokens.
func (e *Engine) pkceGrant(w http.ResponseWriter, r *http.Request) error {
	var p struct {
		Code     string `json:"auth_code"`
		Verifier string `json:"code_verifier"`
	}
	if err := readJSON(r, &p); err != nil {
		return err
	}
	if p.Code == "" || p.Verifier == "" {
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "invalid request: both auth code and code verifier should be non-empty")
	}
	ctx := r.Context()
	reply, err := inTx(ctx, e.db, func(tx pgx.Tx) (*tokenReply, error) {
		f, u, err := heldByCode(ctx, tx, p.Code)
		if errors.Is(err, errNotFound) {
			return nil, wire.Errorf(http.StatusNotFound, "flow_state_not_found", "invalid flow state, no valid flow state found")
		}
		if err != nil {
			return nil, err
		}
		if f.expired(e.config.FlowExpiry, e.now()) {
			return nil, wire.Errorf(http.StatusUnprocessableEntity, "flow_state_expired", "invalid flow state, flow state has expired")
		}
		if !f.verifies(p.Verifier) {
			return nil, wire.Errorf(http.StatusBadRequest, "bad_code_verifier", "code challenge does not match previously saved code verifier")
		}
		if u.banned(e.now()) {
			return nil, errBanned
		}
		if err := e.audit(ctx, tx, u, "login", map[string]any{"provider_type": f.Provider}); err != nil {
			return nil, err
		}
		reply, err := e.signIn(r, tx, w.Header(), u, f.Method)
		if err != nil {
			return nil, err
		}
		reply.ProviderToken, reply.ProviderRefreshToken = f.AccessToken, f.RefreshToken
		_, err = tx.Exec(ctx, `delete from auth.flow_state where id = $1`, f.ID)
		return reply, err
	})
	if err != nil {
		return err
	}
	return send(w, http.StatusOK, reply)
}

// heldByCode finds what a code ends and holds the user, before the flow as everybody else does. The code is looked up
// again: it may have been used, or become void with the password, meanwhile.
func heldByCode(ctx context.Context, tx pgx.Tx, code string) (*flow, *User, error) {
	f, err := findFlow(ctx, tx, `where auth_code = $1`, code)
	if err == nil && f.UserID == nil {
		err = errNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	u := &User{ID: *f.UserID}
	if err := reload(ctx, tx, u); err != nil {
		return nil, nil, err
	}
	f, err = findFlow(ctx, tx, `where auth_code = $1 for update`, code)
	return f, u, err
}

func (f *flow) verifies(verifier string) bool {
	if f.ChallengeMethod == "s256" {
		sum := sha256.Sum256([]byte(verifier))
		verifier = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return equal(f.Challenge, verifier)
}

// withQuery adds one parameter to a URL.
func withQuery(target, name, value string) (string, error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String(), nil
}
