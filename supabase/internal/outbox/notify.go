package outbox

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"daawo/functions/edge"
	"daawo/supabase/internal/mail"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

func (b *Outbox) workNotifyByMail(ctx context.Context, job *river.Job[notifyByMail]) error {
	return b.mailNotice(ctx, job.Args.Notice, messageID(job.JobRow))
}

// messageID is a job's own at every attempt, and no other job's: a restored or moved database counts its jobs from a number
// that was there before, and who knows a message by its id would drop a new one as a double.
func messageID(job *rivertype.JobRow) string {
	return fmt.Sprintf("%d-%d", job.CreatedAt.UnixMicro(), job.ID)
}

// mailNotice sends a notice to the administrators. id is the same at every attempt and goes into the Message-ID, so that a
// mail that a crash doubled is recognised as the same one.
func (b *Outbox) mailNotice(ctx context.Context, n edge.Notice, id string) error {
	if b.Mail == nil || len(b.Admins) == 0 {
		return errors.New("no mail server or no ADMIN_EMAIL is set")
	}
	text, err := b.noticeText(ctx, n)
	if err != nil {
		return err
	}
	return b.Mail(ctx, mail.Message{To: b.Admins, Subject: n.Title, Text: text, ID: "notice-" + id})
}

// noticeText is the body of a notice: its facts, one to a line whatever they hold, and where to read more.
func (b *Outbox) noticeText(ctx context.Context, n edge.Notice) (string, error) {
	var t strings.Builder
	for _, f := range n.Facts {
		t.WriteString(oneLine(f.Name) + ": " + oneLine(f.Value) + "\n")
	}
	if n.Link != nil {
		link, err := b.rowLink(ctx, *n.Link)
		if err != nil {
			return "", err
		}
		if link != "" {
			t.WriteString("\n" + link + "\n")
		}
	}
	if b.SiteURL != "" {
		fmt.Fprintf(&t, "\n-- \n%s\n", b.SiteURL)
	}
	return t.String(), nil
}

// oneLine puts a space in the place of everything that a mail program might begin a line after.
func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.In(c, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return c
	}, s)
}

// rowLink returns the line that leads to a row: its address in Studio's table editor, else what RowLink says. Studio
// addresses a table by its object id, which differs between databases, and a filter as column:operator:value.
func (b *Outbox) rowLink(ctx context.Context, row edge.Row) (string, error) {
	if b.StudioURL == "" {
		if b.RowLink == nil {
			return "", nil
		}
		return b.RowLink(row), nil
	}
	var table uint32
	err := b.DB.Pgx().QueryRow(ctx, `select format('public.%I', $1::text)::regclass::oid`, row.Table).Scan(&table)
	if err != nil {
		return "", fmt.Errorf("link to a row of %s: %w", row.Table, err)
	}
	return fmt.Sprintf("Read it: %s/project/default/editor/%d?schema=public&filter=%s",
		strings.TrimRight(b.StudioURL, "/"), table, url.QueryEscape(row.Column+":eq:"+row.Value)), nil
}

func (b *Outbox) workNotifyByWebhook(ctx context.Context, job *river.Job[notifyByWebhook]) error {
	return b.postNotice(ctx, job.Args.Notice, messageID(job.JobRow), time.Now())
}

// postNotice sends a notice to the webhook, signed as the Standard Webhooks specification (1.0) has it, so that a receiver
// can refuse forgeries, doubles and old copies.
func (b *Outbox) postNotice(ctx context.Context, n edge.Notice, id string, now time.Time) error {
	text, err := b.noticeText(ctx, n)
	if err != nil {
		return err
	}
	body, err := json.Marshal(struct {
		edge.Notice
		Text string `json:"text"` // what Slack-like chat bridges show
	}{n, oneLine(n.Title) + "\n" + text})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.WebhookURL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	stamp := strconv.FormatInt(now.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Webhook-Id", id)
	req.Header.Set("Webhook-Timestamp", stamp)
	req.Header.Set("Webhook-Signature", Sign(b.WebhookSecret, id, stamp, body))
	// A redirect followed would become a GET without the notice (Fetch standard, "HTTP-redirect fetch"): it is a failure.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // so that the connection can be used again
	if res.StatusCode >= 300 {
		return fmt.Errorf("webhook: it answered %s", res.Status)
	}
	return nil
}

// Sign is the value of the header Webhook-Signature: version 1, HMAC-SHA256 over "id.timestamp.body", in base64. A secret
// that begins with whsec_ is the base64 of the key, any other one is the key itself.
func Sign(secret, id, timestamp string, body []byte) string {
	key := []byte(secret)
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			key = decoded
		}
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// TestNotice sends a trial notice over every configured channel at once, without a job, and says by channel what came of
// it: for the command `daawo notify test`.
func (b *Outbox) TestNotice(ctx context.Context) map[string]error {
	n := edge.Notice{Kind: "test", Title: "Test of the notifications", Facts: []edge.Fact{{Name: "Result", Value: "this channel works"}}}
	id := "test-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	results := map[string]error{"mail": b.mailNotice(ctx, n, id)}
	if b.WebhookURL != "" {
		results["webhook"] = b.postNotice(ctx, n, id, time.Now())
	}
	return results
}

// workSendMail sends a mail and then forgets its text: it may hold a link that signs somebody in.
func (b *Outbox) workSendMail(ctx context.Context, job *river.Job[sendMail]) error {
	if b.Mail == nil {
		return errors.New("no mail server is set")
	}
	m := job.Args.Message
	if len(m.To) == 0 {
		return nil // it was sent and forgotten; a crash came before the job's record
	}
	if m.ID == "" {
		m.ID = "mail-" + messageID(job.JobRow)
	}
	if err := b.Mail(ctx, m); err != nil {
		return err
	}
	_, err := b.DB.Pgx().Exec(ctx, `update river.river_job set args = '{}' where id = $1`, job.ID)
	return err
}
