package jobs

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/functions/jobs/queue"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// TestMessageIDs checks that attempts of one job share a message id and that different jobs never
// do, even if a restored database counts its jobs from an earlier number again.
func TestMessageIDs(t *testing.T) {
	posts := make(chan string, 4)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		posts <- r.Header.Get("Webhook-Id")
	}))
	defer hook.Close()
	var out outgoing
	b := newOutbox(t, testdb.New(t),
		Options{Mail: out.send, Admins: []string{"admin@example.org"}, WebhookURL: hook.URL}, nil, false)
	before := time.Date(2026, 3, 4, 12, 30, 0, 1000, time.UTC)
	for _, row := range []rivertype.JobRow{
		{ID: 1, CreatedAt: before, Attempt: 1},
		{ID: 1, CreatedAt: before.In(time.FixedZone("", 3600)), Attempt: 2},
		{ID: 1, CreatedAt: before.Add(time.Microsecond), Attempt: 1},
		{ID: 2, CreatedAt: before, Attempt: 1},
	} {
		login := sendMail{mail.Message{To: []string{"user@example.org"}}}
		for _, err := range []error{
			b.workNotifyByMail(t.Context(),
				&river.Job[queue.MailNotice]{JobRow: &row, Args: queue.MailNotice{Notice: notice}}),
			b.workNotifyByWebhook(t.Context(),
				&river.Job[queue.WebhookNotice]{JobRow: &row, Args: queue.WebhookNotice{Notice: notice}}),
			b.workSendMail(t.Context(), &river.Job[sendMail]{JobRow: &row, Args: login}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	close(posts)
	var notices, posted, mails []string
	for id := range posts {
		posted = append(posted, id)
	}
	for i, m := range out.mails() {
		if i%2 == 0 {
			notices = append(notices, m.ID)
		} else {
			mails = append(mails, m.ID)
		}
	}
	for kind, ids := range map[string][]string{"notices": notices, "webhooks": posted, "mails": mails} {
		if ids[0] != ids[1] {
			t.Errorf("%s: two attempts have different ids: %v", kind, ids)
		}
		if ids[0] == ids[2] || ids[0] == ids[3] || ids[2] == ids[3] {
			t.Errorf("%s: two jobs share an id: %v", kind, ids)
		}
	}
}

// TestWebhookErrorHidesURL checks the error of a webhook that does not answer. It goes to the log
// and to the list of jobs, and the URL of a chat's webhook lets its reader write there.
func TestWebhookErrorHidesURL(t *testing.T) {
	hook := httptest.NewServer(http.NotFoundHandler())
	hook.Close()
	b, err := New(Options{WebhookURL: hook.URL + "/services/token-of-the-chat"})
	if err != nil {
		t.Fatal(err)
	}
	err = b.postNotice(t.Context(), notice, "1-1", time.Now())
	if err == nil || strings.Contains(err.Error(), "token-of-the-chat") {
		t.Errorf("the error is: %v", err)
	}
}
