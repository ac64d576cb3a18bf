package sms

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func message(channel string) Message {
	return Message{Phone: "252611234567", Text: "Your code is 1", Code: "1", Channel: channel}
}

type senderCase struct {
	service, sender, channel string
	content                  string
	path                     string
	fields                   map[string]string
	header                   string // Authorization
	good, id, bad, reason    string
	badStatus                int
}

var senderCases = []senderCase{
	{service: "twilio", sender: "+15005550006", channel: "sms", path: "/2010-04-01/Accounts/AC/Messages.json",
		fields: map[string]string{"To": "+252611234567", "From": "+15005550006", "Body": "Your code is 1"},
		header: "Basic QUM6a2V5",
		good:   `{"sid":"SM1"}`, id: "SM1", bad: `{"message":"no such number"}`, reason: "no such number",
		badStatus: 400},
	{service: "twilio", sender: "MG1", channel: "sms", path: "/2010-04-01/Accounts/AC/Messages.json",
		fields: map[string]string{"From": "", "MessagingServiceSid": "MG1"}, header: "Basic QUM6a2V5",
		good: `{"sid":"SM2"}`, id: "SM2", bad: `{}`, reason: "status 500", badStatus: 500},
	{service: "twilio", sender: "+15005550006", channel: "whatsapp", path: "/2010-04-01/Accounts/AC/Messages.json",
		fields: map[string]string{"To": "whatsapp:+252611234567", "From": "whatsapp:+15005550006"},
		header: "Basic QUM6a2V5",
		good:   `{"sid":"SM3"}`, id: "SM3", bad: `{}`, reason: "status 401", badStatus: 401},
	{service: "twilio", sender: "+15005550006", channel: "sms", path: "/2010-04-01/Accounts/AC/Messages.json",
		header: "Basic QUM6a2V5", good: `{"sid":"SM4"}`, id: "SM4",
		bad: `{"sid":"SM5","status":"undelivered","error_message":"no route"}`, reason: "no route", badStatus: 201},
	{service: "twilio", sender: "+15005550006", content: "HX1", channel: "whatsapp",
		path:   "/2010-04-01/Accounts/AC/Messages.json",
		fields: map[string]string{"Body": "", "ContentSid": "HX1", "ContentVariables": `{"1":"1"}`},
		header: "Basic QUM6a2V5", good: `{"sid":"SM6"}`, id: "SM6", bad: `{}`, reason: "status 400", badStatus: 400},
	{service: "messagebird", sender: "Site", channel: "sms", path: "/messages",
		fields: map[string]string{"originator": "Site", "recipients": "252611234567", "body": "Your code is 1",
			"datacoding": "unicode"}, header: "AccessKey key",
		good: `{"id":"mb1"}`, id: "mb1", bad: `{"errors":[{"description":"no credit"}]}`, reason: "no credit",
		badStatus: 422},
	{service: "textlocal", sender: "Site", channel: "sms", path: "/send",
		fields: map[string]string{"sender": "Site", "numbers": "252611234567", "message": "Your code is 1",
			"apikey": "key"},
		good: `{"status":"success","messages":[{"id":"1151346216"}]}`, id: "1151346216",
		bad: `{"status":"failure","errors":[{"message":"Invalid login"}]}`, reason: "Invalid login",
		badStatus: 200},
	{service: "vonage", sender: "Site", channel: "sms", path: "/sms/json",
		fields: map[string]string{"from": "Site", "to": "252611234567", "text": "Your code is 1", "api_key": "AC",
			"api_secret": "key", "type": "unicode"},
		good: `{"messages":[{"message-id":"v1","status":"0"}]}`, id: "v1",
		bad: `{"messages":[{"status":"4","error-text":"Bad Credentials"}]}`, reason: "Bad Credentials",
		badStatus: 200},
}

// TestSenders checks the request to each provider and how its replies are read.
func TestSenders(t *testing.T) {
	for _, c := range senderCases {
		t.Run(c.service+" "+c.sender+" "+c.channel, func(t *testing.T) {
			fail := false
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || r.URL.Path != c.path || r.Header.Get("Authorization") != c.header {
					t.Errorf("%s %s, Authorization %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
				}
				for name, want := range c.fields {
					if got := r.PostFormValue(name); got != want {
						t.Errorf("%s is %q, want %q", name, got, want)
					}
				}
				if fail {
					w.WriteHeader(c.badStatus)
					_, _ = w.Write([]byte(c.bad))
					return
				}
				_, _ = w.Write([]byte(c.good))
			}))
			defer server.Close()
			s := New(c.service, Config{Account: "AC", Secret: "key", Sender: c.sender, Content: c.content, URL: server.URL})
			defer s.client.CloseIdleConnections()
			if id, err := s.SendSMS(t.Context(), message(c.channel)); err != nil ||
				id != c.id {
				t.Errorf("%q, %v; want %q", id, err, c.id)
			}
			fail = true
			if _, err := s.SendSMS(t.Context(), message(c.channel)); err == nil ||
				!strings.Contains(err.Error(), c.reason) {
				t.Errorf("%v, want %q", err, c.reason)
			}
		})
	}
	if _, err := New("pigeon", Config{}).SendSMS(t.Context(), message("sms")); err == nil {
		t.Error("an unknown provider is accepted")
	}
}
