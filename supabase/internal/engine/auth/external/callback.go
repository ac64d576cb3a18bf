package external

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/external/idp"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// Callback serves /callback, to which a provider sends the user back. It replies with a redirect to
// the site that began the flow, also for errors; for an unknown flow to the configured site.
func (s *Service) Callback(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return apierror.Errorf(http.StatusBadRequest, "bad_oauth_callback",
			"The callback could not be read").WithCause(err)
	}
	f, err := s.flowOf(r)
	if err != nil {
		we, ok := apierror.AsError(err)
		if !ok {
			return err
		}
		// As in GoTrue, the reply is a redirect with the error as JSON behind its page.
		target, rerr := endpoint.ErrorRedirect(s.Config.SiteURL, we, false)
		if rerr != nil {
			return rerr
		}
		http.Redirect(w, r, target, http.StatusSeeOther)
		endpoint.AppendError(w, r, we)
		return nil
	}
	target := cmp.Or(s.Config.RedirectURL, f.Referrer, s.Config.SiteURL)
	reply, token, err := s.finish(w, r, f)
	switch {
	case err != nil:
		we, ok := apierror.AsError(err)
		if !ok {
			s.Log.ErrorContext(r.Context(), "sign-in by another provider failed", "provider", f.Provider, "error", err)
			we = endpoint.ErrUnexpected
		}
		target, err = endpoint.ErrorRedirect(target, we, true)
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

// flowOf returns the flow that the parameter state names.
func (s *Service) flowOf(r *http.Request) (*store.Flow, error) {
	bad := func(code, text string) error { return apierror.Errorf(http.StatusBadRequest, code, "%s", text) }
	state := r.Form.Get("state")
	if state == "" {
		return nil, bad("bad_oauth_callback", "OAuth state parameter missing")
	}
	id, err := uuid.Parse(state)
	if err != nil {
		return nil, bad("bad_oauth_state", "OAuth state parameter is invalid")
	}
	f, err := store.FindFlow(r.Context(), s.DB.Pgx(), `where id = $1`, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, bad("bad_oauth_state", "OAuth state not found or expired")
	case err != nil:
		return nil, err
	case f.Expired(s.Config.FlowExpiry, s.Now()):
		return nil, bad("bad_oauth_state", "OAuth state has expired")
	case f.PKCE() && f.UserID != nil:
		return nil, bad("flow_state_already_used", "State has already been used")
	}
	return f, nil
}

// finish exchanges the provider's code and signs the user in.
func (s *Service) finish(w http.ResponseWriter, r *http.Request, f *store.Flow) (*session.TokenReply, idp.Token,
	error) {
	var none idp.Token
	ctx := r.Context()
	if word := r.Form.Get("error"); word != "" {
		err := apierror.Errorf(http.StatusBadRequest, word, "%s", r.Form.Get("error_description"))
		err.Details = endpoint.OAuthFormat{}
		return nil, none, err
	}
	answer := idp.AnswerOf(f.Provider, r.Form.Get)
	if answer.Code == "" {
		return nil, none, apierror.Errorf(http.StatusBadRequest, "bad_oauth_callback",
			"OAuth callback with missing authorization code missing")
	}
	p, err := s.findProvider(ctx, f.Provider, "")
	if err != nil {
		return nil, none, apierror.Errorf(http.StatusBadRequest, "oauth_provider_not_supported",
			"Unsupported provider: %s", f.Provider).WithCause(err)
	}
	if answer.Kept, err = s.takeVerifier(ctx, f); err != nil {
		return nil, none, err
	}
	token, err := p.Exchange(ctx, answer)
	if err != nil {
		return nil, none, apierror.Errorf(http.StatusInternalServerError, "unexpected_failure",
			"Unable to exchange external code: %s", answer.Code[:min(4, len(answer.Code))]).WithCause(err)
	}
	person, err := p.Person(ctx, token)
	if err != nil {
		return nil, none, apierror.Errorf(http.StatusInternalServerError, "unexpected_failure",
			"Error getting user profile from external provider").WithCause(err)
	}
	if f.Provider == "apple" {
		person.Introduce(r.PostForm.Get("user"))
	}
	if len(person.Emails) == 0 && !f.EmailOptional {
		return nil, none, apierror.Errorf(http.StatusInternalServerError, "unexpected_failure",
			"Error getting user email from external provider")
	}
	reply, err := s.LinkAccount(r, f, person, func(tx message.Tx, u *store.User) (*session.TokenReply, error) {
		if !f.PKCE() {
			if _, err := tx.Exec(ctx, `delete from auth.flow_state where id = $1`, f.ID); err != nil {
				return nil, err
			}
			return s.Sessions.SignIn(r, tx, w.Header(), u, "oauth")
		}
		tag, err := tx.Exec(ctx, `
			update auth.flow_state
			   set user_id = $2, provider_access_token = $3, provider_refresh_token = $4, auth_code_issued_at = $5,
			       updated_at = $5
			 where id = $1 and user_id is null`, f.ID, u.ID, token.Access, token.Refresh, s.Now())
		if err == nil && tag.RowsAffected() == 0 {
			err = apierror.Errorf(http.StatusBadRequest, "flow_state_already_used", "State has already been used")
		}
		return nil, err
	})
	return reply, token, err
}

// takeVerifier returns auth's own secret of the flow and deletes it.
func (s *Service) takeVerifier(ctx context.Context, f *store.Flow) (string, error) {
	if f.ClientStateID == nil {
		return "", nil
	}
	var verifier string
	var created time.Time
	err := s.DB.Pgx().QueryRow(ctx,
		`delete from auth.oauth_client_states where id = $1 and provider_type = $2 returning code_verifier, created_at`,
		*f.ClientStateID, f.Provider).Scan(&verifier, &created)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", apierror.Errorf(http.StatusUnprocessableEntity, "oauth_client_state_not_found",
			"OAuth state not found")
	}
	if err == nil && s.Now().After(created.Add(10*time.Minute)) {
		return "", apierror.Errorf(http.StatusUnprocessableEntity, "oauth_client_state_expired", "OAuth state expired")
	}
	return verifier, err
}
