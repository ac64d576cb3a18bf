package sms

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daawo/supabase/edge"
	"daawo/supabase/edgetest"
)

type senderCase struct {
	name         string
	env          map[string]string // URL is the address of the service
	want         string            // method, address, headers that matter, body
	good, id     string
	bad, reason  string
	badStatus    int
	needs, token string
}

var senderCases = []senderCase{
	{name: "africastalking", env: map[string]string{"AFRICASTALKING_USERNAME": "site", "AFRICASTALKING_API_KEY": "key",
		"AFRICASTALKING_SENDER": "Site", "AFRICASTALKING_URL": "URL"}, needs: "AFRICASTALKING_API_KEY",
		want: "POST /version1/messaging key  from=Site&message=Your+code+is+%221%22&to=%2B252611234567&username=site",
		good: `{"SMSMessageData":{"Message":"Sent to 1/1","Recipients":[{"statusCode":101,"status":"Success","messageId":"ATXid_1"}]}}`,
		id:   "ATXid_1", badStatus: 201, reason: "UserInBlacklist",
		bad: `{"SMSMessageData":{"Message":"Sent to 0/1","Recipients":[{"statusCode":406,"status":"UserInBlacklist"}]}}`},
	{name: "whatsapp", env: map[string]string{"WHATSAPP_TOKEN": "t", "WHATSAPP_PHONE_NUMBER_ID": "106",
		"WHATSAPP_TEMPLATE": "code", "WHATSAPP_LANGUAGE": "so", "WHATSAPP_URL": "URL"}, needs: "WHATSAPP_TOKEN",
		want: `POST /v23.0/106/messages  Bearer t {"messaging_product":"whatsapp","template":{"components":[` +
			`{"parameters":[{"text":"1","type":"text"}],"type":"body"},{"index":"0","parameters":[{"text":"1",` +
			`"type":"text"}],"sub_type":"url","type":"button"}],"language":{"code":"so"},"name":"code"},` +
			`"to":"252611234567","type":"template"}`,
		good: `{"messaging_product":"whatsapp","messages":[{"id":"wamid.1"}]}`, id: "wamid.1",
		bad: `{"error":{"message":"Recipient not in allowed list","code":131030}}`, badStatus: 400,
		reason: "Recipient not in allowed list"},
	{name: "twilio", env: map[string]string{"TWILIO_ACCOUNT_SID": "AC1", "TWILIO_AUTH_TOKEN": "t",
		"TWILIO_FROM": "MG1", "TWILIO_URL": "URL"}, needs: "TWILIO_FROM",
		want: "POST /2010-04-01/Accounts/AC1/Messages.json  Basic QUMxOnQ= Body=Your+code+is+%221%22&" +
			"MessagingServiceSid=MG1&To=%2B252611234567",
		good: `{"sid":"SM1","status":"queued"}`, id: "SM1", bad: `{"message":"no route"}`, badStatus: 400,
		reason: "no route"},
	{name: "gateway", env: map[string]string{"SMS_GATEWAY_URL": "URL/api?key=a&to=%2B{phone}",
		"SMS_GATEWAY_BODY": `{"message":"{text}"}`, "SMS_GATEWAY_HEADER": "Authorization: Bearer {token}",
		"SMS_GATEWAY_TOKEN_URL": "URL/token", "SMS_GATEWAY_TOKEN_BODY": "username=u", "SMS_GATEWAY_OK": `"res":"ok"`,
		"SMS_GATEWAY_ID": `"id":"([^"]+)"`}, needs: "SMS_GATEWAY_URL", token: "token-1",
		want: `POST /api?key=a&to=%2B252611234567  Bearer token-1 {"message":"Your code is \"1\""}`,
		good: `{"res":"ok","id":"g-1"}`, id: "g-1", bad: `{"res":"balance"}`, badStatus: 200, reason: "SMS_GATEWAY_OK"},
	{name: "gateway", env: map[string]string{"SMS_GATEWAY_URL": "URL/send", "SMS_GATEWAY_METHOD": "PUT",
		"SMS_GATEWAY_CONTENT_TYPE": "application/x-www-form-urlencoded", "SMS_GATEWAY_BODY": "to={phone}&c={code}"},
		needs: "SMS_GATEWAY_URL", want: "PUT /send   to=252611234567&c=1", good: "OK", bad: "down", badStatus: 503,
		reason: "status 503"},
}

// TestSenders checks the request to each service, and how its replies are read.
func TestSenders(t *testing.T) {
	for _, c := range senderCases {
		t.Run(c.name, func(t *testing.T) {
			fails, got := false, ""
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if r.URL.Path == "/token" {
					_, _ = io.WriteString(w, `{"access_token":"`+c.token+`"}`)
					return
				}
				got = r.Method + " " + r.URL.RequestURI() + " " + r.Header.Get("Apikey") + " " +
					r.Header.Get("Authorization") + " " + string(body)
				if fails {
					w.WriteHeader(c.badStatus)
					_, _ = io.WriteString(w, c.bad)
					return
				}
				_, _ = io.WriteString(w, c.good)
			}))
			defer service.Close()
			f := edgetest.New(t, edge.Func{})
			f.Env = maps.Clone(c.env)
			for name, value := range f.Env {
				f.Env[name] = strings.Replace(value, "URL", service.URL, 1)
			}
			send := func() (string, error) {
				for _, s := range newService(Options{}).Senders {
					if s.Name == c.name {
						return s.Send(t.Context(), f.NewEnv(),
							Message{Phone: "252611234567", Code: "1", Text: `Your code is "1"`})
					}
				}
				return "", nil
			}
			if id, err := send(); err != nil || id != c.id || got != c.want {
				t.Errorf("%q, %v\n%s\nwant\n%s", id, err, got, c.want)
			}
			fails = true
			if _, err := send(); err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%v, want %q", err, c.reason)
			}
			delete(f.Env, c.needs)
			if _, err := send(); err == nil || !strings.Contains(err.Error(), c.needs) {
				t.Errorf("without %s: %v", c.needs, err)
			}
			http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		})
	}
}

// TestSafe checks that errors lose addresses, numbers and codes.
func TestSafe(t *testing.T) {
	_, err := http.Get("http://127.0.0.1:1/?key=topsecret&to=252611234567")
	if err == nil {
		t.Fatal("port 1 answers")
	}
	if got := safe(err); strings.Contains(got, "topsecret") || strings.Contains(got, "252611234567") ||
		!strings.Contains(got, "refused") {
		t.Error(got)
	}
	if got := mask("123"); got != "***" {
		t.Error(got)
	}
}
