package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/oauth2"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/external/idp"
	"daawo/supabase/internal/auth/message"
	"daawo/supabase/internal/auth/session"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// reserved are parameters of the authorisation URL that are ours to set; a client's are dropped.
var reserved = []string{
	"client_id", "client_secret", "redirect_uri", "response_type", "response_mode", "state", "code_challenge",
	"code_challenge_method", "code_verifier", "scope", "grant_type", "code",
}

// authorize answers GET /authorize: it sends the person to another provider.
func (e *Engine) authorize(w http.ResponseWriter, r *http.Request) error {
	target, err := e.providerURL(r, nil)
	if err != nil {
		return err
	}
	http.Redirect(w, r, target, http.StatusFound)
	return nil
}

// linkIdentity answers GET /user/identities/authorize: the same, for a user who wants a further way in.
func (e *Engine) linkIdentity(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	target, err := e.providerURL(r, &c.User.ID)
	if err != nil {
		return err
	}
	if r.URL.Query().Get("skip_http_redirect") == "true" {
		return endpoint.SendJSON(w, http.StatusOK, map[string]string{"url": target})
	}
	http.Redirect(w, r, target, http.StatusFound)
	return nil
}

// providerURL stores what is under way and makes the provider's URL for it.
func (e *Engine) providerURL(r *http.Request, linkTo *uuid.UUID) (string, error) {
	ctx, q := r.Context(), r.URL.Query()
	name := q.Get("provider")
	p, err := e.provider(ctx, name, q.Get("scopes"))
	if err != nil {
		reason := fmt.Sprintf("Provider %s could not be found", strings.ToLower(name))
		if slices.Contains(providerNames, strings.ToLower(name)) {
			reason = "provider is not enabled"
		}
		if !errors.Is(err, idp.ErrUnknown) {
			reason = "the provider cannot be reached"
		}
		return "", wire.Errorf(http.StatusBadRequest, "validation_failed", "Unsupported provider: %s", reason).WithCause(err)
	}
	if err := endpoint.CheckChallenge(q.Get("code_challenge_method"), q.Get("code_challenge")); err != nil {
		return "", err
	}
	f := store.Flow{
		Provider: p.Name, Method: "oauth", Challenge: q.Get("code_challenge"), ChallengeMethod: q.Get("code_challenge_method"),
		InviteToken: q.Get("invite_token"), Referrer: e.sender.RedirectTo(r), LinkingTargetID: linkTo, EmailOptional: p.Config.EmailOptional,
	}
	extra := map[string]string{}
	for key := range q {
		if key != "provider" && key != "scopes" && !slices.Contains(reserved, strings.ToLower(key)) {
			extra[key] = q.Get(key)
		}
	}
	verifier := ""
	state, err := store.InTx(ctx, e.db, func(tx pgx.Tx) (uuid.UUID, error) {
		if f.InviteToken != "" {
			if _, err := store.UserByToken(ctx, tx, f.InviteToken, store.Confirmation); errors.Is(err, store.ErrNotFound) {
				return uuid.Nil, wire.Errorf(http.StatusNotFound, "user_not_found", "User identified by token not found")
			} else if err != nil {
				return uuid.Nil, err
			}
		}
		if p.ProofKey() {
			verifier = oauth2.GenerateVerifier()
			id := uuid.New()
			f.ClientStateID = &id
			if _, err := tx.Exec(ctx, `insert into auth.oauth_client_states (id, provider_type, code_verifier, created_at) values ($1, $2, $3, $4)`,
				id, p.Name, verifier, e.now()); err != nil {
				return uuid.Nil, err
			}
		}
		return e.store.InsertFlow(ctx, tx, f)
	})
	if err != nil {
		return "", err
	}
	return p.AuthURL(state.String(), verifier, extra), nil
}

// callback answers a person who comes back from a provider. Whatever happened is told to the site by a redirect; only
// when nobody knows which site, the site's own page gets the error.
func (e *Engine) callback(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return wire.Errorf(http.StatusBadRequest, "bad_oauth_callback", "The callback could not be read").WithCause(err)
	}
	f, err := e.flowOf(r)
	if err != nil {
		we, ok := wire.AsError(err)
		if !ok {
			return err
		}
		// GoTrue redirects and then writes the error behind the redirect's page; the page is what the body is labelled as.
		target, rerr := e.callbackError(e.config.SiteURL, we, false)
		if rerr != nil {
			return rerr
		}
		http.Redirect(w, r, target, http.StatusSeeOther)
		wire.AppendAuthError(w, r, we)
		return nil
	}
	target := f.Referrer
	target = cmp.Or(target, e.config.SiteURL)
	reply, token, err := e.finishExternal(w, r, f)
	switch {
	case err != nil:
		we, ok := wire.AsError(err)
		if !ok {
			e.log.ErrorContext(r.Context(), "sign-in by another provider failed", "provider", f.Provider, "error", err)
			we = endpoint.ErrUnexpected
		}
		target, err = e.callbackError(target, we, true)
	case f.PKCE():
		target, err = endpoint.AddQuery(target, "code", f.AuthCode)
	default:
		q := url.Values{"provider_token": {token.Access}}
		if token.Refresh != "" {
			q.Set("provider_refresh_token", token.Refresh)
		}
		target = session.TokenRedirect(target, reply, q)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, target, http.StatusFound)
	return nil
}

// callbackError words an error for the site, in the query and, where asked, behind the #.
func (e *Engine) callbackError(target string, we *wire.Error, fragment bool) (string, error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", err
	}
	values := url.Values{"error_description": {we.Message}}
	word, ok := endpoint.OAuthErrors[we.Status]
	switch we.Code {
	case "signup_disabled", "user_banned", "provider_email_needs_verification":
		word, ok = "access_denied", true
	}
	if !ok {
		word = "server_error"
	}
	if _, foreign := we.Details.(wire.AuthOAuth); foreign { // the provider's own words
		word = we.Code
	} else {
		values.Set("error_code", we.Code)
	}
	values.Set("error", word)
	q := u.Query()
	for name := range values {
		q.Set(name, values.Get(name))
	}
	u.RawQuery = q.Encode()
	if !fragment {
		return u.String(), nil
	}
	return endpoint.SetFragment(u, values), nil
}

// flowOf finds what is under way by the state that the provider gave back.
func (e *Engine) flowOf(r *http.Request) (*store.Flow, error) {
	bad := func(code, text string) error { return wire.Errorf(http.StatusBadRequest, code, "%s", text) }
	state := r.Form.Get("state")
	if state == "" {
		return nil, bad("bad_oauth_callback", "OAuth state parameter missing")
	}
	id, err := uuid.Parse(state)
	if err != nil {
		return nil, bad("bad_oauth_state", "OAuth state parameter is invalid")
	}
	f, err := store.FindFlow(r.Context(), e.db.Pgx(), `where id = $1`, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, bad("bad_oauth_state", "OAuth state not found or expired")
	case err != nil:
		return nil, err
	case f.Expired(e.config.FlowExpiry, e.now()):
		return nil, bad("bad_oauth_state", "OAuth state has expired")
	case f.PKCE() && f.UserID != nil:
		return nil, bad("flow_state_already_used", "State has already been used")
	}
	return f, nil
}

// finishExternal trades the provider's code and signs the person in.
func (e *Engine) finishExternal(w http.ResponseWriter, r *http.Request, f *store.Flow) (*session.TokenReply, idp.Token, error) {
	var none idp.Token
	ctx := r.Context()
	if word := r.Form.Get("error"); word != "" {
		err := wire.Errorf(http.StatusBadRequest, word, "%s", r.Form.Get("error_description"))
		err.Details = wire.AuthOAuth{}
		return nil, none, err
	}
	code := r.Form.Get("code")
	if code == "" {
		return nil, none, wire.Errorf(http.StatusBadRequest, "bad_oauth_callback", "OAuth callback with missing authorization code missing")
	}
	p, err := e.provider(ctx, f.Provider, "")
	if err != nil {
		return nil, none, wire.Errorf(http.StatusBadRequest, "oauth_provider_not_supported", "Unsupported provider: %s", f.Provider).WithCause(err)
	}
	verifier, err := e.takeVerifier(ctx, f)
	if err != nil {
		return nil, none, err
	}
	token, err := p.Exchange(ctx, code, verifier)
	if err != nil {
		return nil, none, wire.Errorf(http.StatusInternalServerError, "unexpected_failure", "Unable to exchange external code: %s", code[:min(4, len(code))]).WithCause(err)
	}
	person, err := p.Person(ctx, token)
	if err != nil {
		return nil, none, wire.Errorf(http.StatusInternalServerError, "unexpected_failure", "Error getting user profile from external provider").WithCause(err)
	}
	if f.Provider == "apple" {
		person.Introduce(r.PostForm.Get("user"))
	}
	if len(person.Emails) == 0 && !f.EmailOptional {
		return nil, none, wire.Errorf(http.StatusInternalServerError, "unexpected_failure", "Error getting user email from external provider")
	}
	reply, err := e.arrive(r, f, person, func(tx message.Tx, u *store.User) (*session.TokenReply, error) {
		if !f.PKCE() {
			if _, err := tx.Exec(ctx, `delete from auth.flow_state where id = $1`, f.ID); err != nil {
				return nil, err
			}
			return e.sessions.SignIn(r, tx, w.Header(), u, "oauth")
		}
		tag, err := tx.Exec(ctx, `
			update auth.flow_state
			   set user_id = $2, provider_access_token = $3, provider_refresh_token = $4, auth_code_issued_at = $5, updated_at = $5
			 where id = $1 and user_id is null`, f.ID, u.ID, token.Access, token.Refresh, e.now())
		if err == nil && tag.RowsAffected() == 0 {
			err = wire.Errorf(http.StatusBadRequest, "flow_state_already_used", "State has already been used")
		}
		return nil, err
	})
	return reply, token, err
}

// takeVerifier finds our own proof key for the provider; it is used once.
func (e *Engine) takeVerifier(ctx context.Context, f *store.Flow) (string, error) {
	if f.ClientStateID == nil {
		return "", nil
	}
	var verifier string
	var created time.Time
	err := e.db.Pgx().QueryRow(ctx, `delete from auth.oauth_client_states where id = $1 and provider_type = $2 returning code_verifier, created_at`,
		*f.ClientStateID, f.Provider).Scan(&verifier, &created)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", wire.Errorf(http.StatusUnprocessableEntity, "oauth_client_state_not_found", "OAuth state not found")
	}
	if err == nil && e.now().After(created.Add(10*time.Minute)) {
		return "", wire.Errorf(http.StatusUnprocessableEntity, "oauth_client_state_expired", "OAuth state expired")
	}
	return verifier, err
}

// idTokenGrant signs in with an id token that the client got from a provider itself.
func (e *Engine) idTokenGrant(w http.ResponseWriter, r *http.Request) error {
	var p struct {
		IDToken      string `json:"id_token"`
		AccessToken  string `json:"access_token"`
		Nonce        string `json:"nonce"`
		Provider     string `json:"provider"`
		ClientID     string `json:"client_id"`
		Issuer       string `json:"issuer"`
		LinkIdentity bool   `json:"link_identity"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		err := wire.Errorf(http.StatusBadRequest, "invalid request", format, args...)
		err.Details = wire.AuthOAuth{}
		return err
	}
	if p.IDToken == "" {
		return refuse("id_token required")
	}
	if p.Provider == "" && (p.ClientID == "" || p.Issuer == "") {
		return refuse("provider or client_id and issuer required")
	}
	ctx := r.Context()
	f := &store.Flow{Provider: strings.ToLower(p.Provider)}
	if p.LinkIdentity {
		if r.Header.Get("Authorization") == "" {
			return refuse("Linking requires a valid user access token in Authorization")
		}
		c, err := e.sessions.Caller(r)
		if err != nil {
			return err
		}
		if err := c.CheckOwn(); err != nil {
			return err
		}
		f.LinkingTargetID = &c.User.ID
	}
	if e.providers.Enabled(f.Provider) && strings.Count(p.IDToken, ".") != 2 {
		return refuse("Bad ID token") // no JWT: its issuer need not be asked
	}
	provider, err := e.provider(ctx, p.Provider, "")
	if errors.Is(err, idp.ErrUnknown) {
		if slices.Contains(providerNames, f.Provider) {
			return wire.Errorf(http.StatusBadRequest, "provider_disabled", "Provider (issuer %q) is not enabled", p.Issuer)
		}
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "Custom OIDC provider %q not allowed", p.Provider)
	}
	if err != nil {
		return err
	}
	f.EmailOptional = provider.Config.EmailOptional
	person, err := provider.VerifyIDToken(ctx, p.IDToken, p.Nonce, false)
	if err == nil && p.AccessToken != "" {
		err = provider.CheckAccessToken(ctx, p.IDToken, p.AccessToken)
	}
	if err != nil && !errors.Is(err, idp.ErrToken) {
		return err
	}
	if err != nil {
		reason := "Bad ID token"
		for _, told := range []string{"Nonces mismatch", "Unacceptable audience in id_token", "Missing sub claim", "Passed nonce"} {
			if _, after, ok := strings.Cut(err.Error(), told); ok {
				reason = told + after
				if told == "Passed nonce" {
					reason += "." // a sentence on the wire, no sentence in a Go error
				}
			}
		}
		return refuse("%s", reason)
	}
	reply, err := e.arrive(r, f, person, func(tx message.Tx, u *store.User) (*session.TokenReply, error) {
		return e.sessions.SignIn(r, tx, w.Header(), u, "oauth")
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}
