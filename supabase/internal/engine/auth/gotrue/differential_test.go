package gotrue

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"daawo/supabase/internal/base/compare"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/testdb"
)

var (
	differentialSeed = flag.Uint64("differential.seed", 1, "the first seed of TestDifferential")
	differentialSize = flag.Int("differential.requests", 6000, "requests of TestDifferential to each server")
	record           = flag.Bool("record", false, "replace the recorded replies by a real GoTrue's")
)

// comparedHeaders are the headers of replies that clients read.
var comparedHeaders = []string{"Content-Type", "Location", "X-Sb-Error-Code", "X-Supabase-Api-Version", "Link",
	"X-Total-Count", "Allow", "Vary", "Cache-Control", "Www-Authenticate"}

// differentialVariables are the variables of both servers.
func differentialVariables(db *testdb.DB, port int, more []string) []string {
	out := []string{
		"DATABASE_URL=" + db.URL("supabase_auth_admin"), "GOTRUE_DB_DRIVER=postgres", "DB_NAMESPACE=auth",
		"API_EXTERNAL_URL=http://localhost:9999", "GOTRUE_SITE_URL=http://localhost:3000", secretVariable,
		"GOTRUE_URI_ALLOW_LIST=https://*.example.com/**", "GOTRUE_JWT_ISSUER=http://localhost:9999",
		"GOTRUE_JWT_AUD=authenticated", "GOTRUE_JWT_DEFAULT_GROUP_NAME=authenticated", "GOTRUE_JWT_EXP=3600",
		"GOTRUE_EXTERNAL_ANONYMOUS_USERS_ENABLED=true", "GOTRUE_EXTERNAL_PHONE_ENABLED=true",
		"GOTRUE_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED=true", "GOTRUE_MFA_TOTP_ENROLL_ENABLED=true",
		"GOTRUE_MFA_TOTP_VERIFY_ENABLED=true", "GOTRUE_SMTP_MAX_FREQUENCY=1ns", "GOTRUE_SMS_MAX_FREQUENCY=1ns",
		"GOTRUE_MFA_PHONE_MAX_FREQUENCY=1ns", "GOTRUE_RATE_LIMIT_EMAIL_SENT=1000000",
		"GOTRUE_RATE_LIMIT_SMS_SENT=1000000", "GOTRUE_SMS_TEST_OTP=252610000001:123456,252610000002:123456," +
			"252610000003:123456", "GOTRUE_MAILER_URLPATHS_INVITE=/verify",
		"GOTRUE_LOG_LEVEL=error", "PORT=" + strconv.Itoa(port), "GOTRUE_API_HOST=127.0.0.1",
		"GOTRUE_OAUTH_SERVER_AUTHORIZATION_PATH=/consent", "GOTRUE_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY=1000000",
	}
	for _, m := range more {
		name, _, _ := strings.Cut(m, "=")
		for i := range out {
			if strings.HasPrefix(out[i], name+"=") {
				out[i] = m
			}
		}
	}
	return append(out, more...)
}

// startOurs serves auth in this process.
func startOurs(t *testing.T, more []string) string {
	t.Helper()
	port := freePort(t)
	environ := differentialVariables(testdb.New(t), port, more)
	values := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, func(name string) (string, bool) { v, ok := values[name]; return v, ok }, environ,
			slog.New(slog.NewTextHandler(io.Discard, nil)))
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return awaitPort(t, port)
}

func awaitPort(t *testing.T, port int) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !listens(port); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server does not listen")
		}
	}
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

// startTheirs starts the program of GOTRUE, or returns the address that GOTRUE is.
func startTheirs(t *testing.T, more []string) string {
	t.Helper()
	program := os.Getenv("GOTRUE")
	if strings.HasPrefix(program, "http") {
		return strings.TrimSuffix(program, "/")
	}
	port := freePort(t)
	cmd := exec.CommandContext(t.Context(), program, "serve")
	cmd.Dir, cmd.Env, cmd.Stderr = t.TempDir(), differentialVariables(testdb.New(t), port, more), os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, so it reports that
	})
	return awaitPort(t, port)
}

// newServer returns a server for one sequence.
func newServer(t *testing.T, address string) *compare.Server {
	t.Helper()
	sign := func(id, claims string) string {
		token, err := keys.Secret(id, testSecret).Sign([]byte(claims))
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	exp := time.Now().Add(time.Hour).Unix()
	fixed := map[string]string{
		"admin":    sign("", fmt.Sprintf(`{"role":"service_role","exp":%d}`, exp)),
		"expired":  sign("", `{"role":"authenticated","exp":1}`),
		"misnamed": sign("another", fmt.Sprintf(`{"role":"authenticated","sub":"x","exp":%d}`, exp)),
	}
	return &compare.Server{Address: address, Headers: comparedHeaders, Client: compare.NewClient(),
		Value: func(kept map[string]string, name string) (string, bool) {
			if name == "code of secret" && kept["secret"] != "" {
				code, err := totp.GenerateCode(kept["secret"], time.Now())
				return code, err == nil
			}
			if value, ok := fixed[name]; ok {
				return value, true
			}
			return samlValue(kept, name)
		}}
}

// TestDifferential sends random sequences of requests to this engine and to the real GoTrue, which
// the variable GOTRUE names, and reports each difference that is not in the list. With a program
// GoTrue runs in each of the environments, with an address in the first.
func TestDifferential(t *testing.T) {
	if os.Getenv("GOTRUE") == "" {
		t.Skip("GOTRUE names neither a GoTrue program nor an address: see docs/evidence/auth.md")
	}
	list := environments()
	if strings.HasPrefix(os.Getenv("GOTRUE"), "http") {
		list = list[:1]
	}
	n := *differentialSize / len(list)
	t.Run("environments", func(t *testing.T) {
		for i, more := range list {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				compareWalks(t, newWalk(*differentialSeed+uint64(i), more), n, startOurs(t, more), startTheirs(t, more))
			})
		}
	})
	t.Logf("%d requests to each server, %d environments", n*len(list), len(list))
	t.Logf("known differences, ours | theirs:\n%s", strings.Join(knownDifferences.Seen(), "\n"))
	if unseen := knownDifferences.Unseen(); len(list) > 1 && len(unseen) > 0 {
		t.Errorf("listed differences that did not occur:\n%s", strings.Join(unseen, "\n"))
	}
}

// sequenceLength is the number of requests after which the accounts are deleted.
const sequenceLength = 60

// compareWalks sends n requests: the rare sequences, then random ones. It deletes all accounts
// after each sequence, and after a reply with another status, because the servers' accounts differ
// from then on.
func compareWalks(t *testing.T, w walk, n int, ours, theirs string) {
	var a, b *compare.Server
	rare := rareSequences(w)
	for i, in := 0, 0; i < n; i, in = i+1, in+1 {
		if in == 0 {
			a, b = newServer(t, ours), newServer(t, theirs)
			clean(t, a)
			clean(t, b)
		}
		var q compare.Request
		if len(rare) > 0 {
			q = rare[0][in]
		} else {
			q = w.next()
		}
		x, err := a.Send(q)
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.Send(q)
		if err != nil {
			t.Fatal(err)
		}
		unknown, ends := knownDifferences.Unknown(q, compare.Replies(x, y))
		if len(unknown) > 0 {
			t.Errorf("%d/%d %s %s %s %v: ours %d, theirs %d\n%s", i, in, q.Method, q.Path, q.Body, q.Header, x.Status,
				y.Status, lines(unknown))
		}
		if len(compare.Replies(x, y)) > 0 {
			a.Rename()
			b.Rename()
		}
		switch {
		case len(rare) > 0 && in == len(rare[0])-1:
			rare, in = rare[1:], -1
		case len(rare) == 0 && (ends || in == sequenceLength || x.Status == 200 && signsUp(q)):
			in = -1
		}
	}
}

// signsUp reports whether a request may confirm an unconfirmed account on one server only: without
// confirmations, GoTrue signs up the user who asks for a link or code, and discards that session.
func signsUp(q compare.Request) bool {
	return strings.HasPrefix(q.Path, "/otp") || strings.HasPrefix(q.Path, "/magiclink")
}

// clean deletes the accounts and the applications of a server.
func clean(t *testing.T, s *compare.Server) {
	t.Helper()
	for _, kind := range []struct{ list, id, one string }{
		{"/admin/users?per_page=1", "users.0.id", "/admin/users/"},
		{"/admin/oauth/clients?per_page=1", "clients.0.client_id", "/admin/oauth/clients/"},
		{"/admin/sso/providers", "items.0.id", "/admin/sso/providers/"},
	} {
		for last := ""; ; {
			as := map[string]string{"Authorization": "Bearer ${admin}", "Content-Type": "application/json"}
			if _, err := s.Send(compare.Request{Method: "GET", Path: kind.list, Header: as,
				Keep: map[string]string{"first": kind.id}}); err != nil {
				t.Fatal(err)
			}
			if s.Kept("first") == last {
				break
			}
			last = s.Kept("first")
			if _, err := s.Send(compare.Request{Method: "DELETE", Path: kind.one + "${first}", Header: as,
				Body: "{}"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Forget()
}

func lines(found []compare.Difference) string {
	var b strings.Builder
	for _, d := range found {
		fmt.Fprintf(&b, "    %s\n", d)
	}
	return b.String()
}

const recordedRequests = 60

// TestRecordedReplies sends one sequence to this engine and compares the replies with those that
// the real GoTrue gave. -record replaces them.
func TestRecordedReplies(t *testing.T) {
	file, more := filepath.Join("testdata", "recorded.json.gz"), environments()[0]
	if *record {
		theirs, w := newServer(t, startTheirs(t, more)), newWalk(recordedSeed, more)
		var replies []compare.Reply
		for range recordedRequests {
			reply, err := theirs.Send(w.next())
			if err != nil {
				t.Fatal(err)
			}
			replies = append(replies, reply)
			theirs.Rename()
		}
		if err := compare.WriteRecord(file, replies); err != nil {
			t.Fatal(err)
		}
	}
	ours, w := newServer(t, startOurs(t, more)), newWalk(recordedSeed, more)
	replies, err := compare.ReadRecord(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range replies {
		q := w.next()
		got, err := ours.Send(q)
		if err != nil {
			t.Fatal(err)
		}
		if unknown, _ := knownDifferences.Unknown(q, compare.Replies(got, want)); len(unknown) > 0 {
			t.Errorf("%d %s %s %s: %d, recorded %d\n%s", i, q.Method, q.Path, q.Body, got.Status, want.Status,
				lines(unknown))
		}
		ours.Rename()
	}
}

const recordedSeed = 8
