package auth

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/engine/auth/message/sms"
)

// twilioVerify is a stand-in for Twilio Verify: each number has the code 424242 until it is used.
type twilioVerify struct {
	*httptest.Server
	open map[string]string // channel by number
}

func newTwilioVerify(t *testing.T) *twilioVerify {
	t.Helper()
	v := &twilioVerify{open: map[string]string{}}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := r.PostFormValue("To")
		if user, secret, _ := r.BasicAuth(); user != "AC1" || secret != "secret" {
			t.Errorf("signed in as %s", user)
		}
		w.Header().Set("Content-Type", "application/json")
		switch strings.TrimPrefix(r.URL.Path, "/v2/Services/VA1/") {
		case "Verifications":
			v.open[to] = r.PostFormValue("Channel")
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(m{"sid": "VE1", "status": "pending"})
		case "VerificationCheck":
			right := r.PostFormValue("Code") == "424242"
			switch {
			case v.open[to] == "":
				w.WriteHeader(http.StatusNotFound)
				_ = json.NewEncoder(w).Encode(m{"code": 20404, "message": "not found", "status": 404})
			case right:
				delete(v.open, to)
				_ = json.NewEncoder(w).Encode(m{"status": "approved", "valid": true})
			default:
				_ = json.NewEncoder(w).Encode(m{"status": "pending", "valid": false})
			}
		default:
			t.Errorf("nothing is at %s", r.URL.Path)
		}
	}))
	t.Cleanup(v.Close)
	return v
}

// TestTwilioVerify checks that codes are those of Twilio, in a sign-in, a change of the number, a
// second factor and a reauthentication, that a code works once and for what it was asked for, and
// that a failing service is no wrong code.
func TestTwilioVerify(t *testing.T) {
	v := newTwilioVerify(t)
	w := newWorld(t, confirming, func(o *Options) {
		o.SMS = sms.NewVerify(sms.Config{Account: "AC1", Secret: "secret", Sender: "VA1", URL: v.URL})
		o.Config.SMS.WhatsApp, o.Config.RequireReauth = true, true
	})
	verify := func(kind, phone, code string) reply {
		return w.post("/verify", m{"type": kind, "phone": phone, "token": code})
	}
	w.post("/otp", m{"phone": "252611234567", "channel": "whatsapp"}).want(200)
	if v.open["+252611234567"] != "whatsapp" {
		t.Errorf("%v", v.open)
	}
	verify("sms", "252611234567", "111111").want(403, "otp_expired")
	token := verify("sms", "252611234567", "424242").want(200).text("access_token")
	verify("sms", "252611234567", "424242").want(403, "otp_expired") // used

	// A code that was sent for a sign-in changes no number.
	if r := w.post("/otp", m{"phone": "252611234567"}).want(200); r.text("message_id") != "VE1" {
		t.Errorf("%s", r.raw)
	}
	verify("phone_change", "252611234567", "424242").want(403, "otp_expired")
	w.do("PUT", "/user", token, m{"phone": "252617654321"}).want(200)
	verify("phone_change", "252617654321", "111111").want(403, "otp_expired")
	verify("phone_change", "252617654321", "424242").want(200)

	w.wait(25 * time.Hour)
	w.post("/otp", m{"phone": "252617654321"}).want(200)
	session := verify("sms", "252617654321", "424242").want(200)
	token = session.text("access_token")
	factor := w.do("POST", "/factors", token, m{"factor_type": "phone", "phone": "+252619999999"}).want(200).text("id")
	challenge := w.do("POST", "/factors/"+factor+"/challenge", token, m{"channel": "sms"}).want(200).text("id")
	answer := func(code string) reply {
		return w.do("POST", "/factors/"+factor+"/verify", token, m{"challenge_id": challenge, "code": code})
	}
	answer("111111").want(403, "otp_expired")
	next := answer("424242").want(200)
	token = next.text("access_token")
	if payload(t, token)["aal"] != "aal2" {
		t.Error("the factor does not raise the session")
	}

	w.wait(25 * time.Hour)
	token = w.refresh(next.text("refresh_token")).want(200).text("access_token")
	w.do("GET", "/reauthenticate", token, nil).want(200)
	change := m{"password": "password-9", "nonce": "111111"}
	w.do("PUT", "/user", token, change).want(403, "otp_expired")
	change["nonce"] = "424242"
	w.do("PUT", "/user", token, change).want(200)

	w.post("/otp", m{"phone": "252617654321"}).want(200)
	v.Close()
	verify("sms", "252617654321", "424242").want(500)
	w.post("/otp", m{"phone": "252612222222"}).want(422, "sms_send_failed")
}
