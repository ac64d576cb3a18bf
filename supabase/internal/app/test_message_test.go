package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daawo/supabase/internal/base/config"
)

// TestSendTestMessage sends a test message through the hook, signed, and checks what is said
// without a hook and a provider, and when the hook refuses.
func TestSendTestMessage(t *testing.T) {
	var got struct{ SMS struct{ OTP, Phone string } }
	reply := "{}"
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &got); err != nil ||
			!strings.HasPrefix(r.Header.Get("webhook-signature"), "v1,") {
			t.Errorf("%s, %v", body, err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, reply)
	}))
	defer served.Close()
	c := &config.Config{}
	c.Auth.Hook = map[string]config.AuthHook{"send_sms": {Enabled: true, URI: served.URL,
		Secrets: "v1,whsec_c2VjcmV0LW9mLXRoZS1ob29r"}}
	by, _, err := SendTestMessage(t.Context(), c, "+252 61 1234567", "sms")
	if err != nil || by != "the hook "+served.URL || got.SMS.Phone != "252611234567" || got.SMS.OTP != testCode {
		t.Errorf("%s, %v, %+v", by, err, got)
	}
	reply = `{"error":{"http_code":422,"message":"no credit"}}`
	if _, _, err := SendTestMessage(t.Context(), c, "252611234567", "sms"); err == nil ||
		!strings.Contains(err.Error(), "no credit") {
		t.Errorf("%v", err)
	}
	for phone, reason := range map[string]string{"0611": "country code", "252611234567": "enables neither"} {
		if _, _, err := SendTestMessage(t.Context(), &config.Config{}, phone, "sms"); err == nil ||
			!strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", phone, err)
		}
	}
	c.Auth.Hook["send_sms"] = config.AuthHook{Enabled: true, URI: "pg-functions://postgres/public/send"}
	if _, _, err := SendTestMessage(t.Context(), c, "252611234567", "sms"); err == nil ||
		!strings.Contains(err.Error(), "daawo sql") {
		t.Errorf("%v", err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}
