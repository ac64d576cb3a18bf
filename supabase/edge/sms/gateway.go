package sms

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"daawo/supabase/edge"
)

// gateway is any HTTP gateway of an operator, described by variables:
//
//	SMS_GATEWAY_URL           https://sms.example.org/send
//	SMS_GATEWAY_METHOD        POST, or GET
//	SMS_GATEWAY_CONTENT_TYPE  application/json, or application/x-www-form-urlencoded
//	SMS_GATEWAY_BODY          {"mobile":"{phone}","message":"{text}"}
//	SMS_GATEWAY_HEADER        Authorization: Bearer {token}
//	SMS_GATEWAY_OK            regular expression that the body of a good reply matches
//	SMS_GATEWAY_ID            regular expression whose first group is the id of the message
//	SMS_GATEWAY_TOKEN_URL     for gateways that give out a token first
//	SMS_GATEWAY_TOKEN_BODY    grant_type=password&username=…&password=…, a form; the reply has access_token
//
// {phone}, {text}, {code} and {token} are filled in, encoded for the place where they stand.
func gateway() Sender {
	return Sender{"gateway", func(ctx context.Context, env *edge.Env, m Message) (string, error) {
		v, err := variables(env, "SMS_GATEWAY_URL")
		if err != nil {
			return "", err
		}
		values := map[string]string{"phone": m.Phone, "text": m.Text, "code": m.Code}
		if env.Get("SMS_GATEWAY_TOKEN_URL") != "" {
			if values["token"], err = gatewayToken(ctx, env); err != nil {
				return "", err
			}
		}
		kind := cmp.Or(env.Get("SMS_GATEWAY_CONTENT_TYPE"), "application/json")
		encode := url.QueryEscape
		if strings.Contains(kind, "json") {
			encode = inJSON
		}
		r, err := http.NewRequestWithContext(ctx, cmp.Or(env.Get("SMS_GATEWAY_METHOD"), http.MethodPost),
			fill(v[0], values, url.QueryEscape), strings.NewReader(fill(env.Get("SMS_GATEWAY_BODY"), values, encode)))
		if err != nil {
			return "", err
		}
		r.Header.Set("Content-Type", kind)
		if name, value, ok := strings.Cut(env.Get("SMS_GATEWAY_HEADER"), ":"); ok {
			r.Header.Set(strings.TrimSpace(name), fill(strings.TrimSpace(value), values, asItIs))
		}
		status, body, err := call(env, r)
		if err != nil {
			return "", err
		}
		return readGateway(status, body, env.Get("SMS_GATEWAY_OK"), env.Get("SMS_GATEWAY_ID"))
	}}
}

// gatewayToken asks for a token.
func gatewayToken(ctx context.Context, env *edge.Env) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, env.Get("SMS_GATEWAY_TOKEN_URL"),
		strings.NewReader(env.Get("SMS_GATEWAY_TOKEN_BODY")))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	status, body, err := call(env, r)
	if err != nil {
		return "", err
	}
	var reply struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &reply); err != nil || status/100 != 2 || reply.Token == "" {
		return "", fmt.Errorf("status %d: no access_token", status)
	}
	return reply.Token, nil
}

// fill fills values in, each encoded.
func fill(text string, values map[string]string, encode func(string) string) string {
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", encode(value))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func asItIs(value string) string { return strings.Join(strings.Fields(value), " ") }

// inJSON encodes a value for a place inside quotation marks.
func inJSON(value string) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text[1 : len(text)-1])
}

// readGateway reads a reply. Some gateways reply with 200 to messages that they refuse.
func readGateway(status int, body []byte, good, id string) (string, error) {
	if status/100 != 2 {
		return "", fmt.Errorf("status %d: %s", status, body)
	}
	isGood, err := regexp.Compile(good)
	if err != nil {
		return "", errors.New("SMS_GATEWAY_OK is not a regular expression")
	}
	if !isGood.Match(body) {
		return "", fmt.Errorf("the reply does not match SMS_GATEWAY_OK: %s", body)
	}
	if id == "" {
		return "", nil
	}
	found, err := regexp.Compile(id)
	if err != nil {
		return "", errors.New("SMS_GATEWAY_ID is not a regular expression")
	}
	if group := found.FindSubmatch(body); len(group) > 1 {
		return string(group[1]), nil
	}
	return "", nil
}
