package acceptance

import (
	"fmt"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

// TestGuideReview checks that a sign-off needs a second factor of the last ten minutes and the
// present version, and that another text or another file ends it.
func TestGuideReview(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture+`
		update auth.users set raw_user_meta_data = '{"name": "Hodan"}' where email = 'reviewer@example.org';
		insert into public.resources (id, title, category, file_url)
		values ('30000000-0000-4000-8000-000000000009', 'Pain (in English)', 'Safety', '/files/pain.en.pdf')`)
	conn := tdb.Conn("postgres")
	claims := func(age time.Duration) string {
		return fmt.Sprintf(`%s,"amr":[{"method":"password","timestamp":%d},{"method":"totp","timestamp":%d}]}`,
			staffClaims(2, 2, "aal2")[:len(staffClaims(2, 2, "aal2"))-1], time.Now().Unix(), time.Now().Add(-age).Unix())
	}
	const state = `select concat_ws(' ', title, version, reviewed_by, reviewed_role, review_due)
		from guides where slug = 'pain'`
	review := func(age time.Duration, version int) (bool, error) {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(t.Context())
		if _, err := tx.Exec(t.Context(),
			`select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
			claims(age)); err != nil {
			t.Fatal(err)
		}
		var done bool
		if err := tx.QueryRow(t.Context(), `select review_guide('pain', $1, 'Pharmacist', '2099-01-01')`,
			version).Scan(&done); err != nil {
			return false, err
		}
		return done, tx.Commit(t.Context())
	}
	if _, err := review(11*time.Minute, 1); err == nil || stateOf(err) != "PT403" {
		t.Error("with an old second factor:", err)
	}
	if done, err := review(time.Minute, 7); err != nil || done {
		t.Error("of another version:", done, err)
	}
	sign := func(version int) {
		t.Helper()
		if done, err := review(time.Minute, version); err != nil || !done {
			t.Fatal(done, err)
		}
		if got, want := testdb.Value[string](tdb, state),
			fmt.Sprintf("Pain %d Hodan Pharmacist 2099-01-01", version+1); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	sign(2)
	tdb.Exec(`update guides set position = 7`) // nothing that was read
	if got := testdb.Value[string](tdb, state); got != "Pain 4 Hodan Pharmacist 2099-01-01" {
		t.Error("another order:", got)
	}
	tdb.Exec(`update guides set description = 'more'`)
	if got := testdb.Value[string](tdb, state); got != "Pain 5" {
		t.Error("another text:", got)
	}
	sign(5)
	tdb.Exec(`update resources set file_url = '/files/new.pdf' where guide = 'pain'`)
	if got := testdb.Value[string](tdb, state); got != "Pain 7" {
		t.Error("another file:", got)
	}
	if got := testdb.Value[string](tdb,
		`select string_agg(number || ' ' || file_url, ',') from resource_versions`); got != "1 /files/pain.en.pdf" {
		t.Error("earlier files:", got)
	}
	sign(7)
	tdb.Exec(`insert into resources (title, category, file_url) values ('Xanuun', 'Safety', '/files/pain.so.pdf')`)
	if got := testdb.Value[string](tdb, state); got != "Pain 9" {
		t.Error("a second language:", got)
	}
	tdb.Exec(`update resources set file_url = '/files/newer.pdf' where file_url = '/files/new.pdf'`) // after the reviewer read version 9
	if done, err := review(time.Minute, 9); err != nil || done {
		t.Error("of another file than the one that was read:", done, err)
	}
	if got := testdb.Value[string](tdb, `select string_agg(actor_name || ' ' || action, ', ' order by id)
		from staff_trail where subject = 'guide' and action = 'review'`); got !=
		"reviewer@example.org review, reviewer@example.org review, reviewer@example.org review" {
		t.Error("trail:", got)
	}
}
