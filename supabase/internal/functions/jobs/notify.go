package jobs

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

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/functions/jobs/queue"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// messageID returns an id that is the same for every attempt of a job and different for every job.
// The job's number alone is not enough: a restored database counts from an earlier number again,
// and receivers would drop a new message as a duplicate.
func messageID(job *rivertype.JobRow) string {
	return fmt.Sprintf("%d-%d", job.CreatedAt.UnixMicro(), job.ID)
}

// mailNotice sends a notice to the administrators. id becomes the Message-ID. It is the same for
// every attempt, so receivers recognise a mail that was sent twice because of a crash.
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

// noticeText returns the body of a notice: its lines and the address of the site.
func (b *Outbox) noticeText(ctx context.Context, n edge.Notice) (string, error) {
	lines, err := b.noticeLines(ctx, n)
	if err != nil {
		return "", err
	}
	var t strings.Builder
	t.WriteString(lines)
	b.sign(&t)
	return t.String(), nil
}

// sign ends a mail with the address of the site.
func (b *Outbox) sign(t *strings.Builder) {
	if b.SiteURL != "" {
		fmt.Fprintf(t, "\n-- \n%s\n", b.SiteURL)
	}
}

// noticeLines returns one line for each fact of a notice, and a link.
func (b *Outbox) noticeLines(ctx context.Context, n edge.Notice) (string, error) {
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
	return t.String(), nil
}

// oneLine replaces every character that a mail program might show as a line break by a space.
func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.In(c, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return c
	}, s)
}

// rowLink returns the line that leads to a row: its address in Studio's table editor, or the result
// of RowLink without Studio. Studio identifies a table by its object id, which differs between
// databases, and expects a filter as column:operator:value.
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

func (b *Outbox) workNotifyByWebhook(ctx context.Context, job *river.Job[queue.WebhookNotice]) error {
	return b.postNotice(ctx, job.Args.Notice, messageID(job.JobRow), time.Now())
}

// postNotice sends a notice to the webhook. The signature follows the Standard Webhooks
// specification (1.0), so a receiver can reject forged, repeated and old requests.
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
	// A redirect is a failure. Following it would send a GET without the notice (Fetch standard,
	// "HTTP-redirect fetch").
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the URL, which can be a secret
	}
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // so that the connection can be reused
	if res.StatusCode >= 300 {
		return fmt.Errorf("webhook: status %s", res.Status)
	}
	return nil
}

// Sign returns the value of the header Webhook-Signature: version 1, HMAC-SHA256 over
// "id.timestamp.body", in base64. After the prefix whsec_ the secret is base64; without it the
// secret is the key itself.
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

// TestNotice sends a test notice through every configured channel, without a job, and returns the
// result by channel. The command `daawo notify test` uses it.
func (b *Outbox) TestNotice(ctx context.Context) map[string]error {
	n := edge.Notice{Kind: "test", Title: "Test of the notifications",
		Facts: []edge.Fact{{Name: "Result", Value: "this channel works"}}}
	id := "test-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	results := map[string]error{"mail": b.mailNotice(ctx, n, id)}
	if b.WebhookURL != "" {
		results["webhook"] = b.postNotice(ctx, n, id, time.Now())
	}
	return results
}

// workSendMail sends a mail and then erases its text, which may contain a link that signs a user
// in.
func (b *Outbox) workSendMail(ctx context.Context, job *river.Job[sendMail]) error {
	if b.Mail == nil {
		return errors.New("no mail server is set")
	}
	m := job.Args.Message
	if len(m.To) == 0 && m.HTML == "" && m.Text == "" {
		return nil // it was sent and erased before a crash
	}
	if m.ID == "" {
		m.ID = "mail-" + messageID(job.JobRow)
	}
	if len(m.To) > 0 { // auth queues others, so that requests for mails do equal work
		if err := b.Mail(ctx, m); err != nil {
			return err
		}
	}
	_, err := b.DB.Pgx().Exec(ctx, `update river.river_job set args = '{}' where id = $1`, job.ID)
	return err
}
