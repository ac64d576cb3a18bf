package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"daawo/scripts/server"
)

// Values that the drill sends in valid and invalid requests and that no log may contain.
const (
	plantedText     = "planted-words-5b1e"
	plantedPhone    = "+252 61 798 4412"
	plantedPassword = "planted-password-90ac"
	plantedFile     = "1712345678901"
)

// logsDrill sends valid and invalid requests of visitors and administrators, also while the
// database is killed, with log level debug. Then it searches the log for the sent values and for
// every key and token.
func logsDrill(ctx context.Context, s settings) (string, error) {
	st, err := server.New(ctx, s.binary, "LOG_LEVEL=debug")
	if err != nil {
		return "", err
	}
	defer st.Close()
	requests, tokens := plant(ctx, st)
	if len(tokens) == 0 {
		return "", errors.New("no sign-in succeeded: there are no tokens to search for")
	}
	if err := st.KillPostgres(); err != nil {
		return "", err
	}
	again, _ := plant(ctx, st)
	if err := st.Ready(ctx); err != nil {
		return "", err
	}
	last, more := plant(ctx, st)
	st.Stop()

	text, err := st.Log()
	if err != nil {
		return "", err
	}
	if !strings.Contains(text, "submit-report") {
		return "", fmt.Errorf("the log has no lines about reports: the drill is inconclusive:\n%s", st.LogTail())
	}
	// Ignore the addresses and keys that the program prints for its operator at the start.
	text = printed.ReplaceAllString(text, "")
	secrets := append(tokens, more...)
	for _, between := range []string{" ", "+", "%20", ""} { // as users and as URLs write it
		secrets = append(secrets, strings.ReplaceAll(plantedPhone[len("+252 61 "):], " ", between))
	}
	secrets = append(secrets, plantedText, plantedPassword, plantedFile,
		st.Get("SERVICE_ROLE_KEY"), st.Get("SECRET_KEY"), st.Get("JWT_SECRET"), st.Get("ANON_KEY"))
	hits := 0
	for _, secret := range secrets {
		hits += strings.Count(text, secret)
	}
	jwts := signedToken.FindAllString(text, -1)
	figures := fmt.Sprintf("%d requests, %d lines of log, %d values searched for, %d hits", requests+again+last,
		strings.Count(text, "\n"), len(secrets), hits+len(jwts))
	if hits+len(jwts) > 0 {
		for line := range strings.Lines(text) {
			for _, secret := range secrets {
				if strings.Contains(line, secret) {
					return figures, fmt.Errorf("the log contains %q: %s", secret, line)
				}
			}
		}
		return figures, fmt.Errorf("the log contains tokens")
	}
	return figures, nil
}

var (
	signedToken = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}`)
	printed     = regexp.MustCompile(`(?m)^ *[A-Z][A-Za-z0-9 ]+  +\S+$`)
)

// plant sends requests with the planted values. It returns their number and the tokens in the
// replies.
func plant(ctx context.Context, st *server.Stack) (requests int, tokens []string) {
	anon, service := st.Get("ANON_KEY"), st.Get("SERVICE_ROLE_KEY")
	send := func(method, path, key, contentType, body string) string {
		requests++
		c := call{path: path, method: method, key: key, kind: contentType, body: []byte(body)}
		return string(c.send(ctx, st).body)
	}
	const jsonType, formType = "application/json", "application/x-www-form-urlencoded"
	full := fmt.Sprintf(`{"product_name":%q,"issue_description":%q,"name":%q,"phone":%q,"location":%[1]q}`, plantedText,
		plantedText, plantedText, plantedPhone)
	send("POST", "/functions/v1/submit-report", anon, jsonType, full)
	send("POST", "/functions/v1/submit-report", anon, jsonType,
		strings.Replace(full, plantedPhone, plantedPhone+" x 1", 1))
	send("POST", "/functions/v1/submit-report", anon, jsonType, full[:len(full)-5])
	send("POST", "/functions/v1/submit-report", anon, formType, "product_name="+plantedText+"&issue_description="+
		plantedText+"&phone="+plantedPhone)
	send("POST", "/functions/v1/submit-report?"+plantedText, anon, "multipart/form-data; boundary="+plantedText,
		plantedText)
	send("POST", "/storage/v1/object/report-photos/"+plantedFile+".png", anon, "image/png", plantedText)
	send("POST", "/storage/v1/object/no-such-bucket/"+plantedFile+".png", anon, "image/png", plantedText)
	send("GET", "/storage/v1/object/authenticated/report-photos/"+plantedFile+".png", service, "", "")
	send("POST", "/rest/v1/reports", service, jsonType,
		fmt.Sprintf(`{"product_name":%q,"issue_description":%q,"status":%q}`, plantedText,
			strings.Repeat(plantedText, 3000), plantedText))
	send("POST", "/rest/v1/reports", service, jsonType,
		fmt.Sprintf(`{"product_name":%q,"issue_description":""}`, plantedText))
	send("GET", "/rest/v1/reports?issue_description=eq."+plantedText+"&"+plantedText+"=x", service, "", "")
	send("GET", "/rest/v1/no_such_table?select=("+plantedText, anon, "", "")
	account := fmt.Sprintf(`{"email":"%s@example.org","password":%q,"email_confirm":true}`, plantedText,
		plantedPassword)
	send("POST", "/auth/v1/admin/users", service, jsonType, account)
	for _, password := range []string{plantedPassword, plantedPassword + "x"} {
		reply := send("POST", "/auth/v1/token?grant_type=password", anon, jsonType,
			strings.Replace(account, plantedPassword, password, 1))
		for _, m := range tokenField.FindAllStringSubmatch(reply, -1) {
			tokens = append(tokens, m[1])
		}
	}
	send("POST", "/auth/v1/recover", anon, jsonType, fmt.Sprintf(`{"email":"%s@example.org"}`, plantedText))
	send("GET", "/auth/v1/verify?type=recovery&token="+plantedPassword+"&redirect_to="+plantedText, anon, "", "")
	send("GET", "/"+strings.Repeat("x", 10)+"?phone="+strings.ReplaceAll(plantedPhone, " ", "+"), anon, "", "")
	send("GET", "/"+strings.Repeat("x", 10)+"?phone="+strings.ReplaceAll(plantedPhone, " ", "%20"), anon, "", "")
	send("GET", "/rest/v1/resources?select=id", plantedPassword+".eyJhIjoiYiJ9.x", "", "")
	return requests, tokens
}

var tokenField = regexp.MustCompile(`"(?:access_token|refresh_token)":"([^"]+)"`)
