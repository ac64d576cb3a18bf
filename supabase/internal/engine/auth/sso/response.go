package sso

import (
	"context"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/crewjam/saml"
	"github.com/google/uuid"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// exchange is a sign-in whose response has come.
type exchange struct {
	provider   *provider
	requestID  string // "" if the provider began it
	redirectTo string
	flow       *store.Flow // nil if the provider began it
}

// Consume serves POST /sso/saml/acs, to which a provider sends the user back. It replies with a
// redirect to the site, also for errors.
func (s *Service) Consume(w http.ResponseWriter, r *http.Request) error {
	target, err := s.consume(w, r)
	if err == nil {
		http.Redirect(w, r, target, http.StatusFound)
		return nil
	}
	we, ok := apierror.AsError(err)
	if !ok || we.Status >= http.StatusInternalServerError {
		s.Log.ErrorContext(r.Context(), "sign-in by SAML failed", "error", err)
	}
	if !ok {
		we = endpoint.ErrUnexpected
	}
	if we.Err != nil { // why the assertion is refused; a client must not learn it
		s.Log.WarnContext(r.Context(), "SAML response refused", "code", we.Code, "error", we.Err)
	}
	target, err = endpoint.ErrorRedirect(s.SiteURL, we, false)
	if err != nil {
		return err
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
	return nil
}

// consume checks the response and signs the user in. It returns where the browser goes.
func (s *Service) consume(w http.ResponseWriter, r *http.Request) (string, error) {
	if err := r.ParseForm(); err != nil {
		return "", invalid("The form could not be read").WithCause(err)
	}
	response, err := base64.StdEncoding.DecodeString(r.PostForm.Get("SAMLResponse"))
	if err != nil {
		return "", invalid("SAMLResponse is not a valid Base64 string")
	}
	x, err := s.exchangeOf(r, response)
	if err != nil {
		return "", err
	}
	entity, err := s.description(r.Context(), x.provider)
	if err != nil {
		return "", err
	}
	assertion, err := s.verify(r.Context(), entity, x, response)
	if err != nil {
		return "", err
	}
	reply, err := s.finish(w, r, x, assertion)
	if err != nil {
		return "", err
	}
	target := x.redirectTo
	if !s.Redirects.Allows(target) {
		target = s.SiteURL
	}
	if reply == nil {
		return endpoint.AddQuery(target, "code", x.flow.AuthCode)
	}
	return session.TokenRedirect(target, reply, url.Values{}), nil
}

// exchangeOf returns what RelayState names: a request of ours by its id, or the URL to which a
// provider sends the user without a request.
func (s *Service) exchangeOf(r *http.Request, response []byte) (*exchange, error) {
	state := r.Form.Get("RelayState")
	if id, err := uuid.Parse(state); err == nil && len(state) == 36 {
		return s.requested(r.Context(), id)
	}
	if _, err := url.ParseRequestURI(state); state != "" && err != nil {
		return nil, invalid("SAML RelayState is not a valid UUID or URL")
	}
	return s.unrequested(r.Context(), response, state)
}

// requested returns the exchange that a request began. The request is gone then.
func (s *Service) requested(ctx context.Context, id uuid.UUID) (*exchange, error) {
	state, err := takeRelayState(ctx, s.DB.Pgx(), id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, apierror.Errorf(http.StatusNotFound, "saml_relay_state_not_found",
			"SAML RelayState does not exist, try logging in again?")
	}
	if err != nil {
		return nil, err
	}
	if s.Now().Sub(state.CreatedAt) >= s.Config.RelayStateLife {
		return nil, apierror.Errorf(http.StatusUnprocessableEntity, "saml_relay_state_expired",
			"SAML RelayState has expired. Try logging in again?")
	}
	x := &exchange{requestID: state.RequestID, redirectTo: state.RedirectTo}
	if state.Flow != nil {
		if x.flow, err = store.FindFlow(ctx, s.DB.Pgx(), `where id = $1`, *state.Flow); err != nil {
			return nil, err
		}
	}
	return x, s.find(ctx, x, `where p.id = $1`, state.Provider)
}

// unrequested returns the exchange that the issuer of a response began. The issuer is not proved
// yet.
func (s *Service) unrequested(ctx context.Context, response []byte, target string) (*exchange, error) {
	if len(response) == 0 {
		return nil, invalid("SAMLResponse is missing")
	}
	var claimed struct {
		XMLName xml.Name `xml:"urn:oasis:names:tc:SAML:2.0:protocol Response"`
		Issuer  string   `xml:"urn:oasis:names:tc:SAML:2.0:assertion Issuer"`
	}
	if err := xml.Unmarshal(response, &claimed); err != nil {
		return nil, invalid("SAMLResponse is not a valid XML SAML assertion")
	}
	x := &exchange{redirectTo: target}
	return x, s.find(ctx, x, `where s.entity_id = $1`, strings.TrimSpace(claimed.Issuer))
}

// find finds the provider of an exchange.
func (s *Service) find(ctx context.Context, x *exchange, where string, arg any) (err error) {
	x.provider, err = findProvider(ctx, s.DB.Pgx(), where, arg)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return apierror.Errorf(http.StatusNotFound, "saml_idp_not_found",
			"A SAML connection has not been established with this Identity Provider")
	case err == nil && !x.provider.enabled():
		return apierror.Errorf(http.StatusNotFound, "sso_provider_disabled",
			"SSO Provider assigned for this domain is currently disabled")
	}
	return err
}

// replays is a saml.AssertionReplayCache in the database.
type replays struct {
	ctx context.Context
	s   *Service
	of  uuid.UUID // the provider
}

// Consume records an assertion.
func (c replays) Consume(id string, _ time.Time) error {
	first, err := store.UseAssertion(c.ctx, c.s.DB, c.of, id, c.s.Now())
	if err == nil && !first {
		err = saml.ErrAssertionReplayed
	}
	return err
}

// verify returns the assertion of a response that is right and has not been used.
func (s *Service) verify(ctx context.Context, entity *saml.EntityDescriptor, x *exchange,
	response []byte) (*saml.Assertion, error) {
	sp := s.serviceProvider(entity, x.requestID == "")
	sp.ReplayCache = replays{ctx, s, x.provider.ID}
	a, err := parse(sp, x.requestID, response, s.Config.AllowEncrypted)
	if err != nil {
		return nil, invalid("SAML Assertion is not valid").WithCause(err)
	}
	return a, nil
}

// parse returns the assertion of a response, if its signature, times, audience, recipient and
// request are right. Without a request its id is "".
func parse(sp *saml.ServiceProvider, requestID string, response []byte, encrypted bool) (*saml.Assertion, error) {
	if err := checkShape(response, encrypted); err != nil {
		return nil, err
	}
	var requests []string
	if requestID != "" {
		requests = []string{requestID}
	}
	a, err := sp.ParseXMLResponse(response, requests, sp.AcsURL)
	var why *saml.InvalidResponseError
	if errors.As(err, &why) {
		err = why.PrivateErr // its own text says nothing
	}
	return a, err
}

// finish signs in the user of an assertion. The reply is nil if a code ends the flow.
func (s *Service) finish(w http.ResponseWriter, r *http.Request, x *exchange,
	a *saml.Assertion) (*session.TokenReply, error) {
	person, err := personOf(a, x.provider)
	if err != nil {
		return nil, err
	}
	ctx, end := r.Context(), sessionEnd(a)
	return s.Accounts(r, person, func(tx message.Tx, u *store.User) (*session.TokenReply, error) {
		if x.flow == nil || !x.flow.PKCE() {
			if x.flow != nil {
				if _, err := tx.Exec(ctx, `delete from auth.flow_state where id = $1`, x.flow.ID); err != nil {
					return nil, err
				}
			}
			return s.Sessions.Begin(r, tx, w.Header(), u, store.MethodSAML, store.Application{}, end)
		}
		tag, err := tx.Exec(ctx, `
			update auth.flow_state set user_id = $2, auth_code_issued_at = $3, updated_at = $3
			 where id = $1 and user_id is null`, x.flow.ID, u.ID, s.Now())
		switch {
		case err != nil:
			return nil, err
		case tag.RowsAffected() == 0:
			return nil, apierror.Errorf(http.StatusBadRequest, "flow_state_already_used", "State has already been used")
		case end != nil:
			return nil, store.KeepSessionEnd(ctx, tx, x.provider.ID, a.ID, x.flow.ID, *end)
		}
		return nil, nil
	})
}

// sessionEnd returns when the provider ends the user's session, or nil.
func sessionEnd(a *saml.Assertion) *time.Time {
	for _, statement := range a.AuthnStatements {
		if end := statement.SessionNotOnOrAfter; end != nil && !end.IsZero() {
			at := end.UTC()
			return &at
		}
	}
	return nil
}

// maxDepth bounds how deep the elements of a response nest.
const maxDepth = 64

// checkShape refuses responses that no provider sends: with a document type, deep ones, encrypted
// ones if those are not allowed, and ones with comments or instructions between the letters of a
// name, which a signature may not cover. Text that this decoder cannot read, such as another
// encoding than UTF-8, is refused as well: the parser of the response reads it.
func checkShape(response []byte, encrypted bool) error {
	d := xml.NewDecoder(strings.NewReader(string(response)))
	for depth, roots := 0, 0; ; {
		t, err := d.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.Directive:
			return errors.New("the response has a document type")
		case xml.Comment, xml.ProcInst:
			if depth > 0 {
				return errors.New("an element has a comment or an instruction")
			}
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			if depth++; depth > maxDepth || roots > 1 {
				return fmt.Errorf("elements nest deeper than %d, or there are several roots", maxDepth)
			}
			if !encrypted && strings.HasPrefix(t.Name.Local, "Encrypted") {
				return errors.New("the response is encrypted, which the configuration does not allow")
			}
		case xml.EndElement:
			depth--
		}
	}
}
