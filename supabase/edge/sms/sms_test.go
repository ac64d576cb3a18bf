package sms_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/edge/sms"
	"daawo/supabase/edgetest"
)

const (
	secret = "c2VjcmV0LW9mLXRoZS1ob29r"
	body   = `{"user":{"phone":"252611234567"},"sms":{"otp":"482913","phone":"252611234567"}}`
)

// signed returns a call of the hook as auth sends it.
func signed(f *edgetest.Run, id, body string) *http.Request {
	key, _ := base64.StdEncoding.DecodeString(secret)
	at := fmt.Sprint(f.Time.Unix())
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	r := httptest.NewRequest(http.MethodPost, "/send-sms", strings.NewReader(body))
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", at)
	r.Header.Set("webhook-signature", "v1,AAAA, v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return r
}

// newRun returns the function with two senders of the test's own.
func newRun(t *testing.T, first, second error) (*edgetest.Run, *edgetest.Database, *[]sms.Message) {
	t.Helper()
	db := edgetest.DB(t)
	db.Exec(sms.Schema)
	var got []sms.Message
	sender := func(name string, err error) sms.Sender {
		return sms.Sender{Name: name, Send: func(_ context.Context, _ *edge.Env, m sms.Message) (string, error) {
			if err == nil {
				got = append(got, m)
			}
			return "id-of-" + name, err
		}}
	}
	f := edgetest.New(t, sms.Func(sms.Options{Text: "Koodhkaagu waa {{ .Code }}",
		Senders: []sms.Sender{sender("one", first), sender("two", second)}}))
	f.DB = db
	f.Env = map[string]string{"SEND_SMS_HOOK_SECRETS": "v1,whsec_b3RoZXI=|v1,whsec_" + secret, "SMS_SENDERS": "one, two"}
	return f, db, &got
}

// TestFallBack checks that the second sender sends what the first refuses, and that the log has
// both attempts, a masked number, no code and no address of a request.
func TestFallBack(t *testing.T) {
	refused := fmt.Errorf("number +252611234567 with code 482913: %w", errors.New("blocked"))
	f, db, got := newRun(t, refused, nil)
	if w := f.Do(signed(f, "msg-1", body)); w.Code != http.StatusOK || w.Body.String() != "{}\n" {
		t.Fatalf("%d %q", w.Code, w.Body)
	}
	if len(*got) != 1 || (*got)[0] != (sms.Message{Phone: "252611234567", Code: "482913",
		Text: "Koodhkaagu waa 482913"}) {
		t.Errorf("%+v", *got)
	}
	row := edgetest.Value[string](db, `select to_jsonb(d)::text from public.sms_deliveries d`)
	for _, want := range []string{`"phone": "+252*******67"`, `"status": "sent"`, `"sender": "two"`, "id-of-two", "blocked"} {
		if !strings.Contains(row, want) {
			t.Errorf("the log lacks %s: %s", want, row)
		}
	}
	if strings.Contains(row, "611234567") || strings.Contains(row, "482913") {
		t.Errorf("the log has the number or the code: %s", row)
	}
	// The same call sends nothing again.
	if w := f.Do(signed(f, "msg-1", body)); w.Code != http.StatusOK || len(*got) != 1 {
		t.Errorf("%d, %d messages", w.Code, len(*got))
	}
	// Users cannot read the log.
	if n := edgetest.Value[int](db, `select count(*) from information_schema.role_table_grants
		where table_name = 'sms_deliveries' and grantee in ('anon', 'authenticated')`); n != 0 {
		t.Errorf("%d grants to users", n)
	}
	// Old rows are deleted.
	f.Time = f.Time.Add(31 * 24 * time.Hour)
	if err := f.RunSchedule(); err != nil {
		t.Fatal(err)
	}
	if n := edgetest.Value[int](db, `select count(*) from public.sms_deliveries`); n != 0 {
		t.Errorf("%d old rows", n)
	}
}

// TestAllRefuse checks the reply to auth if no sender accepts the message.
func TestAllRefuse(t *testing.T) {
	f, db, _ := newRun(t, errors.New("down"), context.DeadlineExceeded)
	if w := f.Do(signed(f, "msg-1", body)); w.Code != http.StatusOK ||
		!strings.Contains(w.Body.String(), `"http_code":422`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// The same call is told the same.
	if w := f.Do(signed(f, "msg-1", body)); !strings.Contains(w.Body.String(), `"http_code":422`) {
		t.Errorf("repeated: %d %s", w.Code, w.Body)
	}
	row := edgetest.Value[string](db, `select to_jsonb(d)::text from public.sms_deliveries d`)
	if !strings.Contains(row, `"status": "failed"`) || !strings.Contains(row, "no reply in time") {
		t.Error(row)
	}
}

// TestSignature checks that calls without a valid signature of now send nothing.
func TestSignature(t *testing.T) {
	f, db, got := newRun(t, nil, nil)
	for name, change := range map[string]func(*http.Request){
		"no signature": func(r *http.Request) { r.Header.Del("webhook-signature") },
		"another id":   func(r *http.Request) { r.Header.Set("webhook-id", "msg-2") },
		"another time": func(r *http.Request) { r.Header.Set("webhook-timestamp", "1") },
		"no time":      func(r *http.Request) { r.Header.Del("webhook-timestamp") },
		"another body": func(r *http.Request) {
			other := strings.Replace(body, "482913", "482914", 1)
			r.Body = http.NoBody
			*r = *r.Clone(r.Context())
			r.Body = httptest.NewRequest(http.MethodPost, "/", bytes.NewReader([]byte(other))).Body
		},
	} {
		r := signed(f, "msg-1", body)
		change(r)
		if w := f.Do(r); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	old := signed(f, "msg-1", body)
	f.Time = f.Time.Add(6 * time.Minute)
	if w := f.Do(old); w.Code != http.StatusUnauthorized {
		t.Errorf("an old call: %d", w.Code)
	}
	if n := edgetest.Value[int](db, `select count(*) from public.sms_deliveries`); n != 0 || len(*got) != 0 {
		t.Errorf("%d rows, %d messages", n, len(*got))
	}
	for _, wrong := range []string{"", "whsec_" + secret, "v1,whsec_", "v1,whsec_%"} {
		f.Env["SEND_SMS_HOOK_SECRETS"] = wrong
		if w := f.Do(signed(f, "msg-1", body)); w.Code != http.StatusInternalServerError {
			t.Errorf("secret %q: %d", wrong, w.Code)
		}
		if err := f.Func.Health(t.Context(), f.NewEnv()); err == nil {
			t.Errorf("secret %q is healthy", wrong)
		}
	}
}

// TestWrongInput checks bodies and settings with which nothing can be sent.
func TestWrongInput(t *testing.T) {
	f, _, _ := newRun(t, nil, nil)
	for _, wrong := range []string{"{", "{}", `{"sms":{"phone":"x","otp":"1"}}`, `{"sms":{"phone":"252611234567"}}`} {
		if w := f.Do(signed(f, "msg-1", wrong)); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", wrong, w.Code, w.Body)
		}
	}
	f.Caller = edge.Service
	if err := f.Func.Health(t.Context(), f.NewEnv()); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"", "pigeon", "one,,pigeon"} {
		f.Env["SMS_SENDERS"] = wrong
		if err := f.Func.Health(t.Context(), f.NewEnv()); err == nil {
			t.Errorf("SMS_SENDERS=%q is healthy", wrong)
		}
	}
}
