package sms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Verify is Twilio Verify: it makes the codes, sends them, and checks them.
type Verify struct{ sender *Sender }

// NewVerify returns a Verify. The Sender of the account is the service.
func NewVerify(c Config) *Verify { return &Verify{New("twilio_verify", c)} }

const verifyHost = "https://verify.twilio.com"

func (v *Verify) path(action string) string {
	return "/v2/Services/" + url.PathEscape(v.sender.config.Sender) + "/" + action
}

// SendSMS sends a code of Twilio's own. The text and the code of the message are not used.
func (v *Verify) SendSMS(ctx context.Context, m Message) (id string, err error) {
	request, err := v.sender.postTwilio(ctx, verifyHost, v.path("Verifications"),
		url.Values{"To": {"+" + m.Phone}, "Channel": {m.Channel}})
	if err != nil {
		return "", err
	}
	return v.sender.do(request, readMember("sid", "message"))
}

// errWrongCode: Twilio does not accept the code.
var errWrongCode = errors.New("wrong code")

// CheckCode reports whether the code was sent to the phone, has not expired and was not used. It
// uses the code up.
func (v *Verify) CheckCode(ctx context.Context, phone, code string) (bool, error) {
	request, err := v.sender.postTwilio(ctx, verifyHost, v.path("VerificationCheck"),
		url.Values{"To": {"+" + phone}, "Code": {code}})
	if err != nil {
		return false, err
	}
	_, err = v.sender.do(request, readCheck)
	if errors.Is(err, errWrongCode) {
		return false, nil
	}
	return err == nil, err
}

// readCheck reads the reply to a code. A verification that has ended is not found, and too many
// attempts end it.
func readCheck(status int, body []byte) (string, error) {
	var m struct {
		Status  string `json:"status"`
		Valid   bool   `json:"valid"`
		Message string `json:"message"`
	}
	err := json.Unmarshal(body, &m)
	switch {
	case status == http.StatusNotFound || status == http.StatusTooManyRequests:
		return "", errWrongCode
	case status/100 != 2:
		return "", fmt.Errorf("status %d: %s", status, m.Message)
	case err != nil:
		return "", err
	case m.Status != "approved" || !m.Valid:
		return "", errWrongCode
	}
	return "", nil
}
