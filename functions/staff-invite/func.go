// Package staffinvite invites members of the staff for the desk: it makes the account, mails its
// link and gives it a role. Owners only.
// Only functions.All imports it.
package staffinvite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"time"

	"daawo/supabase/edge"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Func answers /functions/v1/staff-invite.
var Func = edge.Func{Methods: []string{http.MethodPost}, Handler: handle, Timeout: 30 * time.Second, MaxBody: 4 << 10,
	MaxConcurrent: 4}

type request struct {
	Email string `json:"email"`
	Role  string `json:"role"`
	Link  bool   `json:"link"` // asks for a link of a member who was invited and has not come yet
	// Language of the mail, and of those after it until the member chooses another.
	Language string `json:"language"`
}

// reply says whether a mail was sent. An account that existed only gets the role.
type reply struct {
	Mailed bool   `json:"mailed"`
	Link   string `json:"link,omitempty"` // works once
}

var roles = []string{"reviewer", "editor", "owner"}

// perHour is how many invitations one client may send in an hour.
const perHour = 30

func handle(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	req, err := edge.ReadJSON[request](r)
	if err != nil {
		return err
	}
	if a, err := mail.ParseAddress(req.Email); err != nil || a.Address != req.Email || len(req.Email) > 254 {
		return edge.Errorf(http.StatusUnprocessableEntity, "validation_failed", "This is not an e-mail address.")
	}
	if req.Language != "" && req.Language != "en" && req.Language != "so" {
		return edge.Errorf(http.StatusUnprocessableEntity, "validation_failed", "There is no such language.")
	}
	if !slices.Contains(roles, req.Role) {
		return edge.Errorf(http.StatusUnprocessableEntity, "validation_failed", "There is no such role.")
	}
	ctx := r.Context()
	if req.Link {
		return sendLink(ctx, w, env, req.Email)
	}
	if err := refuseMember(ctx, env, req.Email); err != nil {
		return err
	}
	// As the caller: the database knows who may invite, and writes the trail.
	if err := as(ctx, env, `select public.trail_invitation($1, $2::public.staff_role)`, req.Email,
		req.Role); err != nil {
		return err
	}
	if err := env.Limit(ctx, "staff-invite", perHour, time.Hour); err != nil {
		return err
	}
	id, mailed, err := account(ctx, env, req)
	if err != nil {
		return err
	}
	if err := as(ctx, env, `select public.set_staff_role($1, $2::public.staff_role)`, id, req.Role); err != nil {
		return err
	}
	return edge.WriteJSON(w, http.StatusOK, reply{Mailed: mailed})
}

// sendLink replies with a link for a member who has not signed in yet, which an owner hands over.
// There is no link for another member: it would open that member's desk.
func sendLink(ctx context.Context, w http.ResponseWriter, env *edge.Env, email string) error {
	var role *string
	var owner bool // only owners read addresses
	err := env.Tx(ctx, env.Caller, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `select bool_or(m.email is not null),
				max(m.role::text) filter (where lower(m.email) = lower($1) and m.last_sign_in_at is null)
			from public.staff_members() as m`, email).Scan(&owner, &role)
	})
	switch {
	case err != nil:
		return refusal(err)
	case !owner:
		return edge.Errorf(http.StatusForbidden, "forbidden", "Owners only.")
	case role == nil:
		return edge.Errorf(http.StatusConflict, "not_pending", "This address belongs to no member who was invited.")
	}
	if err := as(ctx, env, `select public.trail_invitation($1, $2::public.staff_role)`, email, *role); err != nil {
		return err
	}
	if err := env.Limit(ctx, "staff-invite", perHour, time.Hour); err != nil {
		return err
	}
	made, _, err := post(ctx, env, "admin/generate_link", map[string]any{"type": "magiclink", "email": email})
	if err != nil {
		return err
	}
	values := url.Values{"token_hash": {made.Token}, "type": {"magiclink"}}
	return edge.WriteJSON(w, http.StatusOK, reply{Link: env.Get("DESK_URL") + "/#/welcome?" + values.Encode()})
}

// refuseMember returns an error with status 409 if a member has the address: an invitation changes
// no role. Only owners read addresses; for other callers the next statement fails.
func refuseMember(ctx context.Context, env *edge.Env, email string) error {
	var found bool
	err := env.Tx(ctx, env.Caller, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx,
			`select exists (select from public.staff_members() as m where lower(m.email) = lower($1))`,
			email).Scan(&found)
	})
	if err == nil && found {
		return edge.Errorf(http.StatusConflict, "member_exists", "This address belongs to a member already.")
	}
	return refusal(err)
}

// as runs a statement as the caller.
func as(ctx context.Context, env *edge.Env, statement string, args ...any) error {
	return refusal(env.Tx(ctx, env.Caller, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

// refusal returns an error of the database for the client: status 403 for a caller who is no owner.
func refusal(err error) error {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refused.Code {
		case "42501":
			return edge.Errorf(http.StatusForbidden, "forbidden", "Owners only.")
		case "23514":
			return edge.Errorf(http.StatusConflict, "last_owner", "The last owner keeps the role.")
		}
	}
	return err
}

// account invites a new account, or finds the one with that address.
func account(ctx context.Context, env *edge.Env, req request) (id string, mailed bool, err error) {
	body := map[string]any{"email": req.Email}
	if req.Language != "" {
		body["data"] = map[string]string{"language": req.Language}
	}
	made, code, err := post(ctx, env, "invite?redirect_to="+url.QueryEscape(env.Get("DESK_URL")+"/"), body)
	if code != "email_exists" {
		return made.ID, true, err
	}
	// generate_link names the account; its link is not used, and the next one replaces it.
	made, _, err = post(ctx, env, "admin/generate_link", map[string]any{"type": "magiclink", "email": req.Email})
	return made.ID, false, err
}

// maxReply is the most that is read of a reply of auth, in bytes.
const maxReply = 1 << 20

// madeAccount is an account with its one-time token, if a link was made.
type madeAccount struct{ ID, Token string }

// post sends a request to auth with the service's rights and returns the account, or the code of
// an error reply.
func post(ctx context.Context, env *edge.Env, path string, body map[string]any) (made madeAccount, code string,
	err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return made, "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, env.Get("SUPABASE_URL")+"/auth/v1/"+path,
		bytes.NewReader(text))
	if err != nil {
		return made, "", err
	}
	key := env.Get("SUPABASE_SERVICE_ROLE_KEY")
	req.Header.Set("Apikey", key)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return made, "", err
	}
	defer res.Body.Close()
	var got struct {
		ID        string
		Token     string `json:"hashed_token"`
		ErrorCode string `json:"error_code"`
		Msg       string
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxReply)).Decode(&got); err != nil {
		return made, "", err
	}
	if res.StatusCode >= 300 {
		return made, got.ErrorCode,
			edge.Errorf(http.StatusBadGateway, "auth_failed", "The invitation was not sent: %s", got.Msg)
	}
	return madeAccount{got.ID, got.Token}, "", nil
}
