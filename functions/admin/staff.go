package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"daawo/supabase/stack"

	"github.com/jackc/pgx/v5"
)

// roles are the roles of staff.
var roles = []string{"reviewer", "editor", "owner"}

// Member is an account of the staff.
type Member struct {
	ID           string     `db:"id" json:"id"`
	Name         string     `db:"name" json:"name"`
	Email        string     `db:"email" json:"email"`
	Role         string     `db:"role" json:"role"`
	LastSignInAt *time.Time `db:"last_sign_in_at" json:"last_sign_in_at"`
	HasFactor    bool       `db:"has_factor" json:"has_factor"` // a second factor, such as a TOTP app
	Sessions     int64      `db:"sessions" json:"sessions"`
}

// Staff returns the members of the staff by name.
func (c *Client) Staff(ctx context.Context) ([]Member, error) {
	var found []Member
	err := c.tx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx,
			`select id::text, name, email, role::text, last_sign_in_at, has_factor, sessions from public.staff_members()`)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowToStructByName[Member])
		return err
	})
	return found, err
}

// Member returns the member with a mail address.
func (c *Client) Member(ctx context.Context, email string) (Member, error) {
	list, err := c.Staff(ctx)
	if err != nil {
		return Member{}, err
	}
	i := slices.IndexFunc(list, func(m Member) bool { return strings.EqualFold(m.Email, email) })
	if i < 0 {
		return Member{}, fmt.Errorf("member %s: %w", email, ErrNotFound)
	}
	return list[i], nil
}

// SetRole gives an account a role, or takes it away if role is "". The sessions of a member end.
func (c *Client) SetRole(ctx context.Context, id, role string) error {
	return c.tx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select public.set_staff_role($1, nullif($2, '')::public.staff_role)`, id, role)
		return err
	})
}

// RemoveFactors removes the second factors of a member, whose sessions end.
func (c *Client) RemoveFactors(ctx context.Context, id string) error {
	return c.tx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select public.remove_staff_factors($1)`, id)
		return err
	})
}

// Invite gives a new account a role and mails it a link to the desk. If the account exists, Invite
// only gives it the role, and mailed is false.
func (c *Client) Invite(ctx context.Context, email, role string) (mailed bool, err error) {
	if err := c.trailInvitation(ctx, email, role); err != nil {
		return false, err
	}
	var account struct{ ID string }
	err = c.auth(ctx, "invite?redirect_to="+url.QueryEscape(c.Admin+"/"), map[string]string{"email": email}, &account)
	if exists(err) {
		// generate_link names the account; its link is not used, and the next one replaces it.
		err = c.auth(ctx, "admin/generate_link", map[string]string{"type": "magiclink", "email": email}, &account)
		if err != nil {
			return false, err
		}
		return false, c.SetRole(ctx, account.ID, role)
	}
	if err != nil {
		return false, err
	}
	return true, c.SetRole(ctx, account.ID, role)
}

// InviteLink gives an account a role and returns a link that signs it in once, within the hour. It
// sends no mail.
func (c *Client) InviteLink(ctx context.Context, email, role string) (string, error) {
	if err := c.trailInvitation(ctx, email, role); err != nil {
		return "", err
	}
	var reply struct {
		ID    string
		Token string `json:"hashed_token"`
		Kind  string `json:"verification_type"`
	}
	err := c.auth(ctx, "admin/generate_link", map[string]string{"type": "invite", "email": email}, &reply)
	if exists(err) {
		err = c.auth(ctx, "admin/generate_link", map[string]string{"type": "magiclink", "email": email}, &reply)
	}
	if err != nil {
		return "", err
	}
	if err := c.SetRole(ctx, reply.ID, role); err != nil {
		return "", err
	}
	return c.Admin + "/#/welcome?" + url.Values{"token_hash": {reply.Token}, "type": {reply.Kind}}.Encode(), nil
}

// trailInvitation writes the invitation to the trail. It fails for an unknown role, for a member
// with another role, or if the address of the desk is unknown.
func (c *Client) trailInvitation(ctx context.Context, email, role string) error {
	if !slices.Contains(roles, role) {
		return fmt.Errorf("unknown role %q; use %s", role, strings.Join(roles, ", "))
	}
	if c.Admin == "" {
		return errors.New("the address of the desk is unknown: set DESK_URL")
	}
	m, err := c.Member(ctx, email)
	if err == nil && m.Role != role {
		return fmt.Errorf("%s is a member with the role %s: change it with `staff role`", m.Email, m.Role)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return c.tx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select public.trail_invitation($1, $2::public.staff_role)`, email, role)
		return err
	})
}

// auth posts to the auth API as service_role.
func (c *Client) auth(ctx context.Context, path string, body, reply any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.api(ctx, "auth", http.MethodPost, path, "application/json", text, reply)
}

// exists reports whether auth refused an invitation because the account exists.
func exists(err error) bool {
	var failed apiError
	return errors.As(err, &failed) && failed.code == "email_exists"
}

// Prepare tells the database whether the installation is public: then staff need a second factor.
// An installation that was public once keeps the requirement, so that a later start for a test
// cannot remove it.
func Prepare(ctx context.Context, conn *pgx.Conn, public bool) error {
	// A full disk makes the database read-only: write only what changes.
	var known bool
	err := conn.QueryRow(ctx, `
select exists (select from private.installation where name = 'public' and (value = 'true' or value = $1::boolean::text))`, public).Scan(&known)
	if err == nil && !known {
		_, err = conn.Exec(ctx, `
insert into private.installation (name, value)
values ('public', $1::boolean::text)
on conflict (name) do update set value = excluded.value where installation.value <> 'true'`, public)
	}
	if err != nil {
		return fmt.Errorf("setting of the second factor: %w", err)
	}
	return nil
}

// firstOwner is the mail address of the account that StartLinks makes.
const firstOwner = "owner@localhost.localdomain"

// StartLinks returns a one-time link for the first owner of a local installation, until an owner
// has signed in.
func StartLinks(ctx context.Context, at stack.Installation) (links map[string]string, err error) {
	if at.Admin == "" {
		return nil, nil
	}
	c, err := Open(ctx, at)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
	list, err := c.Staff(ctx)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(list, func(m Member) bool { return m.Role == "owner" && m.LastSignInAt != nil }) {
		return nil, nil
	}
	link, err := c.InviteLink(ctx, firstOwner, "owner")
	if err != nil {
		return nil, fmt.Errorf("link for the first owner: %w", err)
	}
	return map[string]string{"First owner": link}, nil
}
