package auth

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"daawo/supabase/internal/engine/auth/hook"
	"daawo/supabase/internal/engine/auth/message/sms"
)

// lastCode returns the code of the last text message.
func (w *world) lastCode() string {
	w.t.Helper()
	if len(w.texts) == 0 {
		w.t.Fatal("no text message was sent")
	}
	last := w.texts[len(w.texts)-1]
	return last[len(last)-6:]
}

// TestSMSHook checks that the hook replaces the SMS provider, gets the code, and can reject the
// message.
func TestSMSHook(t *testing.T) {
	reply := `{}`
	var got m
	service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(text, &got); err != nil {
			t.Error(err)
		}
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, reply)
	}))
	defer service.Close()
	w := newWorld(t, confirming, func(o *Options) {
		o.SMS = nil
		o.Config.Hooks.SendSMS = hook.Hook{URI: service.URL, Secrets: []string{"v1,whsec_c2VjcmV0"}}
	})
	w.post("/otp", m{"phone": "+252611234567", "code_challenge": testChallenge,
		"code_challenge_method": "s256"}).want(200)
	sms := got["sms"].(m)
	if sms["phone"] != "252611234567" || got["user"].(m)["phone"] != "252611234567" {
		t.Errorf("the hook got %v", got)
	}
	w.post("/verify", m{"type": "sms", "phone": "252611234567", "token": sms["otp"]}).want(200)
	reply = `{"error":{"http_code":429,"message":"quota"}}`
	if r := w.post("/otp", m{"phone": "+252611234567"}).want(429); r.text("msg") != "quota" {
		t.Errorf("%s", r.raw)
	}
	if w.count(`select count(*) from auth.one_time_tokens`) != 0 {
		t.Error("the code is stored although the hook rejected the message")
	}
}

type brokenSMS struct{}

func (brokenSMS) SendSMS(context.Context, sms.Message) (string, error) {
	return "", &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// TestPhones checks phone numbers: channels, frequency, changes of the number, test codes, and a
// failing SMS provider.
func TestPhones(t *testing.T) {
	w := newWorld(t, confirming, func(o *Options) {
		o.Config.SMS.MaxFrequency = time.Minute
		o.Config.SMS.TestCodes = map[string]string{"252619999999": "424242"}
		o.Config.SMS.TestUntil = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	})
	w.post("/otp", m{"phone": "252611234567", "channel": "whatsapp"}).want(400, "validation_failed")
	w.post("/otp", m{"phone": "0611234567"}).want(400, "validation_failed")
	w.post("/otp", m{"phone": "252611234567"}).want(200)
	w.post("/otp", m{"phone": "252611234567"}).want(429, "over_sms_send_rate_limit")
	late := w.lastCode()
	w.wait(61 * time.Second)
	w.post("/verify", m{"type": "sms", "phone": "252611234567", "token": late}).want(403, "otp_expired")
	w.post("/otp", m{"phone": "252611234567"}).want(200)
	token := w.post("/verify",
		m{"type": "sms", "phone": "252611234567", "token": w.lastCode()}).want(200).text("access_token")

	w.do("PUT", "/user", token, m{"phone": "252617654321"}).want(200)
	if !strings.HasPrefix(w.texts[len(w.texts)-1], "252617654321 ") {
		t.Errorf("the code went to %s", w.texts[len(w.texts)-1])
	}
	u := w.post("/verify", m{"type": "phone_change", "phone": "252617654321", "token": w.lastCode()}).want(200)
	if u.text("user.phone") != "252617654321" {
		t.Errorf("%s", u.raw)
	}
	w.wait(time.Hour)

	// A test number has a fixed code and gets no messages, until TestUntil.
	texts := len(w.texts)
	w.post("/otp", m{"phone": "252619999999"}).want(200)
	w.post("/verify", m{"type": "sms", "phone": "252619999999", "token": "424242"}).want(200)
	if len(w.texts) != texts {
		t.Error("a message was sent to the test number")
	}
	w.wait(24 * time.Hour)
	w.post("/verify", m{"type": "sms", "phone": "252619999999", "token": "424242"}).want(403, "otp_expired")

	w.sms = brokenSMS{}
	if r := w.post("/otp", m{"phone": "252611111111"}).want(422, "sms_send_failed"); !strings.Contains(r.text("msg"),
		"connection refused") {
		t.Errorf("%s", r.raw)
	}
	if n := w.count(`select count(*) from auth.users where phone = '252611111111'`); n != 0 {
		t.Error("an account was created although its code could not be sent")
	}
}

// TestAnonymousWithNumber checks that a user with a phone number is not anonymous, even if numbers
// are not verified.
func TestAnonymousWithNumber(t *testing.T) {
	w := newWorld(t)
	s := w.post("/signup", m{}).want(200)
	u := w.do("PUT", "/user", s.text("access_token"), m{"phone": "252611234567"}).want(200)
	next := w.refresh(s.text("refresh_token")).want(200)
	if u.at("is_anonymous") != false || payload(t, next.text("access_token"))["is_anonymous"] != false {
		t.Errorf("still anonymous: %s", u.raw)
	}
}
