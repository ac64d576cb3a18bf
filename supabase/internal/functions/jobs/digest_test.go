package jobs

import (
	"fmt"
	"strings"
	"testing"

	"daawo/supabase/edge"
	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// TestNoticeDigest checks that notices beyond the limit of an hour come in one mail, that none is
// lost or doubled, and that a digest which could not be sent is sent again with the same notices,
// also when the jobs of those are deleted by then.
func TestNoticeDigest(t *testing.T) {
	var out outgoing
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{Mail: out.send, Admins: []string{"admin@example.org"}, NoticeMails: 3, Workers: 1},
		nil, true)
	const all = 40
	for i := range all {
		send(t, b, func(batch *pgx.Batch) error {
			return b.Add(batch, edge.Notice{Kind: "todo.created", Title: fmt.Sprintf("New todo T-%02d", i)})
		})
	}
	count := func(where string) int {
		return testdb.Value[int](tdb, `select count(*) from river.river_job where kind = 'notify_by_mail' and `+where)
	}
	waitFor(t, "the wait of the other notices",
		func() bool { return count(`metadata ? 'waiting' and state = 'scheduled'`) == all-3 })
	if n := len(out.mails()); n != 3 {
		t.Fatalf("%d mails in the first hour, want 3", n)
	}
	// An hour later. The mail server is down at first.
	out.down.Store(true)
	tdb.Exec(`update river.river_job set metadata = metadata || '{"mailed": "2020-01-01T00:00:00Z"}' where metadata ? 'mailed'`)
	tdb.Exec(`update river.river_job set scheduled_at = now(), state = 'available' where state = 'scheduled'`)
	waitFor(t, "the gathering", func() bool { return count(`metadata ? 'digest'`) == all-4 })
	waitFor(t, "the failure", func() bool { return count(`state = 'retryable'`) == 1 })
	tdb.Exec(`delete from river.river_job where state = 'completed'`) // as after keepCompleted
	out.down.Store(false)
	tdb.Exec(`update river.river_job set scheduled_at = now(), state = 'available' where state = 'retryable'`)
	waitFor(t, "the digest", func() bool { return len(out.mails()) == 4 })
	digest := out.mails()[3]
	if !strings.HasPrefix(digest.Subject, fmt.Sprintf("%d notices: New todo T-", all-3)) {
		t.Errorf("subject %q", digest.Subject)
	}
	for i := range all {
		title := fmt.Sprintf("New todo T-%02d", i)
		n := strings.Count(digest.Text, title+"\n")
		for _, m := range out.mails()[:3] {
			n += strings.Count(m.Subject, title)
		}
		if n != 1 {
			t.Errorf("%s is in %d mails", title, n)
		}
	}
	waitFor(t, "the end of all jobs", func() bool { return count(`state <> 'completed'`) == 0 })
}
