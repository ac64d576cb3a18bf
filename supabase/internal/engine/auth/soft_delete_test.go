package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"testing"
)

// hidden returns the hash that GoTrue writes in place of a deleted user's text.
func hidden(user, text string) string {
	sum := sha256.Sum256([]byte(user + text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// TestSoftDelete checks that a deletion that keeps the row writes what GoTrue writes, which cannot
// read NULL in these columns, and that a row of an earlier version is repaired.
func TestSoftDelete(t *testing.T) {
	w := newWorld(t)
	for name, pending := range map[string]struct{ email, phone, emailChange, phoneChange string }{
		"nothing pending":     {email: "a@example.org"},
		"phone and changes":   {"b@example.org", "15550001", "c@example.org", "15550002"},
		"an account by phone": {phone: "15550003"},
	} {
		t.Run(name, func(t *testing.T) {
			account := m{"password": "password-1", "email_confirm": true, "phone_confirm": true,
				"user_metadata": m{"name": "Ada"}}
			if pending.email != "" {
				account["email"] = pending.email
			}
			if pending.phone != "" {
				account["phone"] = pending.phone
			}
			id := w.do("POST", "/admin/users", w.admin(), account).want(200).text("id")
			w.db.ExecAs("supabase_admin", `update auth.users set email_change = '`+pending.emailChange+
				`', phone_change = '`+pending.phoneChange+`' where id = '`+id+`'`)
			w.do("DELETE", "/admin/users/"+id, w.admin(), m{"should_soft_delete": true}).want(200)
			want := func(when string) {
				t.Helper()
				var email, phone, emailChange, phoneChange, user string
				var metadata map[string]any
				err := w.pool.Pgx().QueryRow(t.Context(), `
					select email, phone, email_change, phone_change, raw_user_meta_data, id from auth.users where id = $1 and deleted_at is not null`, id).
					Scan(&email, &phone, &emailChange, &phoneChange, &metadata, &user)
				if err != nil {
					t.Fatal(when, err)
				}
				if email != hidden(id, pending.email) || phone != hidden(id, pending.phone)[:15] || len(metadata) > 0 ||
					emailChange != hidden(id, pending.emailChange) ||
					phoneChange != hidden(id, pending.phoneChange)[:15] {
					t.Errorf("%s: %s %s %s %s %v", when, email, phone, emailChange, phoneChange, metadata)
				}
			}
			want("deleted")
			rows, err := w.pool.Pgx().Query(t.Context(),
				`select provider, provider_id from auth.identities where user_id = $1`, id)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				var provider, providerID string
				if err := rows.Scan(&provider, &providerID); err != nil {
					t.Fatal(err)
				}
				if text := map[string]string{"email": id, "phone": id}[provider]; providerID != hidden(id, provider+":"+
					text) {
					t.Errorf("identity %s: %s", provider, providerID)
				}
			}
			if pending.emailChange != "" {
				return
			}
			w.db.ExecAs("supabase_admin", `update auth.users set email_change = null, phone_change = null where id = '`+
				id+`'`)
			repair(w)
			want("repaired")
		})
	}
}
