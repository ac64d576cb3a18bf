package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/realtime/changes"
	"daawo/supabase/internal/engine/realtime/messages"
)

// store is a Messages with fixed rules: a user may read topics that begin with the claim "read",
// and write likewise.
type store struct {
	mu       sync.Mutex
	err      error
	stored   []messages.Message
	since    time.Time
	limit    int
	reads    int
	writes   int
	presence bool   // also grant presence
	then     func() // runs once, after a check has decided
}

func (s *store) grant(id messages.Identity, claim, topic string, count *int) (messages.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*count++
	prefix, _ := id.Claims[claim].(string)
	ok := prefix != "" && strings.HasPrefix(topic, prefix)
	return messages.Grant{Broadcast: ok, Presence: ok && s.presence}, s.err
}

func (s *store) CanRead(_ context.Context, id messages.Identity, topic string, _ bool) (messages.Grant, error) {
	s.mu.Lock()
	then := s.then
	s.then = nil
	s.mu.Unlock()
	grant, err := s.grant(id, "read", topic, &s.reads)
	if then != nil {
		then()
	}
	return grant, err
}

// during has the next check of reading call fn before it returns what it decided before.
func (s *store) during(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.then = fn
}

func (s *store) CanWrite(_ context.Context, id messages.Identity, topic string, _ bool) (messages.Grant, error) {
	return s.grant(id, "write", topic, &s.writes)
}

func (s *store) Replay(_ context.Context, _ string, since time.Time, limit int) ([]messages.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since, s.limit = since, limit
	return s.stored, s.err
}

// seen returns the number of calls of CanWrite, and the arguments of the last call of Replay.
func (s *store) seen() (writes int, since time.Time, limit int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes, s.since, s.limit
}

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

const private = `"config":{"private":true,"broadcast":{"self":true,"ack":true}}`

func TestPrivateChannels(t *testing.T) {
	rules := &store{}
	s := serve(t, func(o *Options) { o.Messages = rules })
	both := sign(t, "authenticated", map[string]any{"read": "notes", "write": "notes"})
	reads := sign(t, "authenticated", map[string]any{"read": "notes"})
	writer, reader, public := connect(t, s), connect(t, s), connect(t, s)
	if got := writer.join("realtime:other", `{"access_token":"`+both+`",`+private+`}`); !strings.Contains(got,
		`{"reason":"Unauthorized: You do not have permissions to read from this Channel topic: other"},"status":"error"`) {
		t.Errorf("join without permission: %s", got)
	}
	writer.join("realtime:notes", `{"access_token":"`+both+`",`+private+`}`)
	reader.join("realtime:notes", `{"access_token":"`+reads+`",`+private+`}`)
	public.join("realtime:notes", `{"config":{}}`)
	for n := range 3 {
		ref := writer.send("realtime:notes", "broadcast", fmt.Sprintf(`{"n":%d}`, n))
		writer.want(`"phx_reply"`, `"`+ref+`"`, `"status":"ok"`)
		reader.want(fmt.Sprintf(`{"n":%d}`, n))
	}
	if n, _, _ := rules.seen(); n != 1 {
		t.Errorf("%d checks for three broadcasts", n)
	}
	reader.send("realtime:notes", "broadcast", `{"forbidden":1}`)
	reader.send("realtime:notes", "presence", `{"event":"track","payload":{}}`)
	reader.want(`"phx_reply"`, `"status":"error"`)
	for _, c := range []*client{writer, reader, public} {
		c.none("forbidden")
	}
	public.none(`"broadcast"`)

	writer.send("realtime:notes", "access_token", `{"access_token":"`+
		sign(t, "authenticated", map[string]any{"read": "notes", "write": "else"})+`"}`)
	writer.send("realtime:notes", "broadcast", `{"forbidden":2}`)
	writer.send("realtime:notes", "access_token", `{"access_token":"`+
		sign(t, "authenticated", map[string]any{"read": "else"})+`"}`)
	writer.want(`"system"`, "You do not have permissions to read from this Channel topic: notes")
	writer.want("phx_close")
	reader.none("forbidden")
}

func TestPrivatePresence(t *testing.T) {
	s := serve(t, func(o *Options) { o.Messages = &store{presence: true} })
	both := sign(t, "authenticated", map[string]any{"read": "notes", "write": "notes"})
	a, b := connect(t, s), connect(t, s)
	a.join("realtime:notes", `{"access_token":"`+both+
		`","config":{"private":true,"presence":{"enabled":true,"key":"a"}}}`)
	a.want("presence_state")
	b.join("realtime:notes", `{"access_token":"`+both+`","config":{"private":true}}`)
	a.send("realtime:notes", "presence", `{"event":"track","payload":{"n":1}}`)
	a.want("presence_diff", `"n":1`)
	b.none("presence_diff") // it did not ask for presence
	b.send("realtime:notes", "presence", `{"event":"track","payload":{"n":2}}`)
	b.want("presence_diff", `"n":2`)
	a.want("presence_diff", `"n":2`)
}

// blocked is a Messages whose checks wait.
type blocked struct {
	store
	release chan struct{}
}

func (b *blocked) CanRead(context.Context, messages.Identity, string, bool) (messages.Grant, error) {
	<-b.release
	return messages.Grant{}, messages.ErrUnavailable
}

// TestFloodOfBusyChannel checks that a client cannot make the server keep messages without end.
func TestFloodOfBusyChannel(t *testing.T) {
	rules := &blocked{release: make(chan struct{})}
	s := serve(t, func(o *Options) { o.Messages = rules })
	defer close(rules.release)
	for _, payload := range []string{`{}`, `{"x":"` + strings.Repeat("x", 4<<20) + `"}`} {
		c := connect(t, s)
		c.send("realtime:notes", "phx_join", `{`+private+`}`)
		for range maxTasks + 1 {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			err := c.conn.Write(ctx, websocket.MessageText,
				[]byte(`["1","2","realtime:notes","broadcast",`+payload+`]`))
			cancel()
			if err != nil {
				break // cut off already
			}
		}
		c.ended()
	}
}

func TestDatabaseErrorsAtJoin(t *testing.T) {
	rules := &store{}
	s := serve(t, func(o *Options) { o.Messages = rules })
	c := connect(t, s)
	for err, want := range map[error]string{
		messages.ErrPolicy:           "Unauthorized: You do not",
		messages.ErrCanceled:         "QueryCanceled: ",
		messages.ErrMissingPartition: "MissingPartition: Realtime was unable to find the expected messages partition",
		messages.ErrTooManyChecks:    "IncreaseConnectionPool: Please increase your connection pool size",
		messages.ErrUnavailable:      "UnableToConnectToProject: Realtime was unable to connect to the project database",
	} {
		rules.fail(fmt.Errorf("%w: secret detail", err))
		if got := c.join("realtime:notes", `{`+private+`}`); !strings.Contains(got, want) ||
			strings.Contains(got, "secret detail") {
			t.Errorf("%v: %s", err, got)
		}
	}
}

func TestReplay(t *testing.T) {
	rules := &store{stored: []messages.Message{
		{ID: "1", Event: "e", Payload: json.RawMessage(`{"n":1}`)}, {ID: "2", Event: "e", Binary: []byte{0, 255}},
	}}
	s := serve(t, func(o *Options) { o.Messages = rules })
	token := sign(t, "authenticated", map[string]any{"read": "notes"})
	join := func(replay string) string {
		return `{"access_token":"` + token + `","config":{"private":true,"broadcast":{"replay":` + replay + `}}}`
	}
	c := connect(t, s)
	for _, bad := range []string{`{}`, `{"since":"x"}`, `{"since":1,"limit":"x"}`} {
		if got := c.join("realtime:notes", join(bad)); !strings.Contains(got,
			"UnableToReplayMessages: Replay params are not valid") {
			t.Errorf("%s: %s", bad, got)
		}
	}
	if got := c.join("realtime:notes", `{"config":{"broadcast":{"replay":{"since":1}}}}`); !strings.Contains(got,
		"UnableToReplayMessages: Replay is not allowed for public channels") {
		t.Errorf("public: %s", got)
	}
	c.join("realtime:notes", join(`{"since":1234,"limit":7}`))
	c.want(`["1",null,"realtime:notes","broadcast",{"event":"e","meta":{"id":"1","replayed":true},"payload":{"n":1},"type":"broadcast"}]`)
	c.want(`\x00\xff`)
	if _, since, limit := rules.seen(); since.UnixMilli() != 1234 || limit != 7 {
		t.Errorf("asked for %v, %d", since, limit)
	}
	for _, id := range []string{"1", "3"} {
		s.FromDatabase(changes.Broadcast{ID: id, Topic: "notes", Event: "e", Extension: "broadcast", Private: true,
			Payload: json.RawMessage(`{}`)})
	}
	if got := c.want(`"broadcast"`); !strings.Contains(got, `"meta":{"id":"3"}`) {
		t.Errorf("a replayed message arrived again: %s", got)
	}
	s.FromDatabase(changes.Broadcast{ID: "4", Topic: "notes", Event: "e", Extension: "presence", Private: true,
		Payload: json.RawMessage(`{}`)})
	s.FromDatabase(changes.Broadcast{ID: "5", Topic: "notes", Event: "e", Extension: "broadcast",
		Payload: json.RawMessage(`{}`)})
	c.none(`"broadcast"`)
}

func TestHTTPBroadcast(t *testing.T) {
	rules := &store{}
	s := serve(t, func(o *Options) { o.Messages, o.Settings.MaxPayloadKB = rules, 1 })
	anon, user := sign(t, "anon", nil), sign(t, "authenticated", map[string]any{"read": "p", "write": "p"})
	c := connect(t, s)
	c.join("realtime:a", `{"config":{}}`)
	c.join("realtime:p", `{"access_token":"`+user+`","config":{"private":true}}`)
	large := `{"x":"` + strings.Repeat("x", 1600) + `"}`
	for _, r := range []struct {
		name, path, token, contentType, body string
		status                               int
		reply                                string
		arrives                              string // "" for nothing
	}{
		{"batch", "/api/broadcast", anon, "application/json",
			`{"messages":[{"topic":"a","event":"e","payload":{"n":1}}]}`, 202, "",
			`{"event":"e","payload":{"n":1},"type":"broadcast"}`},
		{"private with permission", "/api/broadcast", user, "application/json",
			`{"messages":[{"topic":"p","event":"e","payload":{"n":2},"private":true}]}`, 202, "", `"n":2`},
		{"private without permission", "/api/broadcast", anon, "application/json",
			`{"messages":[{"topic":"p","event":"e","payload":{"hidden":1},"private":true}]}`, 202, "", ""},
		{"public message to a private topic", "/api/broadcast", anon, "application/json",
			`{"messages":[{"topic":"p","event":"e","payload":{"hidden":1}}]}`, 202, "", ""},
		{"no messages", "/api/broadcast", anon, "application/json", `{}`, 422,
			`{"errors":{"messages":["can't be blank"]}}`, ""},
		{"not a list", "/api/broadcast", anon, "application/json", `{"messages":{}}`, 422,
			`{"errors":{"messages":["is invalid"]}}`, ""},
		{"missing members", "/api/broadcast", anon, "application/json",
			`{"messages":[{"topic":"a","event":"e","payload":{}},{"topic":1,"payload":[]}]}`, 422,
			`{"errors":{"messages":[{},{"event":["can't be blank"],"payload":["is invalid"],"topic":["is invalid"]}]}}`,
			""},
		{"too large", "/api/broadcast", anon, "application/json", `{"messages":[{"topic":"a","event":"e","payload":` +
			large + `}]}`, 422, `{"errors":{"messages":[{"payload":["Payload size exceeds tenant limit"]}]}}`, ""},
		{"not JSON", "/api/broadcast", anon, "application/json", `{`, 400, `{"message":"Bad Request"}`, ""},
		{"bad token", "/api/broadcast", "x", "application/json", `{}`, 401, `{"message":"Unauthorized"}`, ""},
		{"single", "/api/broadcast/a/events/e", anon, "application/json; charset=utf-8", `{"n":3}`, 202, "",
			`{\"n\":3}`},
		{"single without type", "/api/broadcast/a/events/e", anon, "", `[4]`, 202, "", `{\"_json\":[4]}`},
		{"single binary", "/api/broadcast/a/events/e", anon, "application/octet-stream", "\x00\xfe", 202, "",
			`\x00\xfe`},
		{"single of another type", "/api/broadcast/a/events/e", anon, "text/plain", "x", 415,
			`{"error":"Unsupported Media Type. Use application/json or application/octet-stream"}`, ""},
		{"single too large", "/api/broadcast/a/events/e", anon, "application/json", large, 422,
			`{"errors":{"payload":["Payload size exceeds tenant limit"]}}`, ""},
		{"single not JSON", "/api/broadcast/a/events/e", anon, "application/json", "{", 400,
			`{"message":"Bad Request"}`, ""},
		{"single private", "/api/broadcast/p/events/e?private=true", user, "application/json", `{"n":5}`, 202, "",
			`{\"n\":5}`},
		{"single private without permission", "/api/broadcast/p/events/e?private=true", anon, "application/json",
			`{"hidden":1}`, 403, `{"message":"Unauthorized"}`, ""},
		{"unknown path", "/api/other", anon, "", "", 404, `{"message":"Not Found"}`, ""},
	} {
		if status, body := post(t, s, r.path, r.token, r.contentType, r.body); status != r.status || body != r.reply {
			t.Errorf("%s: got %d %s, want %d %s", r.name, status, body, r.status, r.reply)
		}
		if r.arrives != "" {
			c.want(r.arrives)
		}
	}
	c.none("hidden")
	for err, want := range map[error]int{
		messages.ErrPolicy: 422, messages.ErrCanceled: 422, messages.ErrMissingPartition: 422,
		messages.ErrTooManyChecks: 429, messages.ErrUnavailable: 422, errors.New("secret detail"): 500,
	} {
		rules.fail(err)
		if status, body := post(t, s, "/api/broadcast/p/events/e?private=true", user, "", `{}`); status != want ||
			strings.Contains(body, "secret") {
			t.Errorf("%v: got %d %s, want %d", err, status, body, want)
		}
	}
}

// FuzzJoin checks that no payload of a join makes the parser panic.
func FuzzJoin(f *testing.F) {
	f.Add([]byte(`{"access_token":"x","config":{"private":"TRUE","broadcast":{"ack":true,"self":"false","replay":{"since":1}},"presence":{"enabled":true,"key":7},"postgres_changes":[{"event":"*"},null]}}`))
	f.Add([]byte(`{"config":[]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		r := parseJoin(payload)
		if r.presenceKey == "" {
			t.Error("a presence without a key")
		}
		c := &channel{key: topicKey{name: string(payload)}}
		_, response, _, err := c.bindings(r)
		if err == nil && !json.Valid(response) {
			t.Errorf("response %s", response)
		}
	})
}

// FuzzBusMessage checks that no message of another replica makes the decoder panic.
func FuzzBusMessage(f *testing.F) {
	f.Add(encodeBroadcast(topicKey{"a", true}, &message{payload: json.RawMessage(`{}`)}))
	f.Add([]byte{0, 0, 0, 2, '{', '}', 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		key, m, err := decodeBroadcast(data)
		if err != nil {
			return
		}
		if _, _, err := decodeBroadcast(encodeBroadcast(key, m)); err != nil {
			t.Errorf("%q: %v", data, err)
		}
	})
}

// TestPoliciesChanged checks that the channels of a topic end whose users may no longer read it,
// once the database says that policies changed.
func TestPoliciesChanged(t *testing.T) {
	rules := &store{}
	s := serve(t, func(o *Options) { o.Messages = rules })
	token := sign(t, "authenticated", map[string]any{"read": "notes"})
	a := connect(t, s)
	a.join("realtime:notes", `{"access_token":"`+token+`",`+private+`}`)
	tell := func(event string) {
		s.FromDatabase(changes.Broadcast{ID: event, Topic: "notes", Event: event, Extension: "broadcast", Private: true,
			Payload: []byte(`{}`)})
	}
	tell("policies_changed")
	a.want(`"policies_changed"`)
	tell("first")
	a.want(`"first"`)
	rules.fail(messages.ErrPolicy)
	tell("policies_changed")
	a.want(`"system"`, "You do not have permissions to read from this Channel topic: notes")
	a.want("phx_close")
	tell("second")
	a.none(`"second"`)
}

// TestReverify checks that sockets and channels whose keys are no longer accepted close at once.
func TestReverify(t *testing.T) {
	verifier := keys.NewVerifier(keys.Options{}, secret)
	s := serve(t, func(o *Options) { o.Verify = verifier.Verify })
	a := connect(t, s)
	a.join("realtime:notes", `{"config":{}}`)
	s.Reverify()
	a.heartbeat()
	verifier.SetKeys(keys.Secret("", strings.Repeat("another-secret-", 4)))
	s.Reverify()
	a.ended()
}

// TestPoliciesChangedLater checks the two races of policies_changed: the log has the event before
// new statements see the change, and a channel is joined between its check and the event.
func TestPoliciesChangedLater(t *testing.T) {
	rules := &store{}
	db := &stream{subscribers: map[int64]changes.Subscriber{}, visible: make(chan struct{})}
	s := serve(t, func(o *Options) { o.Messages, o.Changes = rules, db })
	join := `{"access_token":"` + sign(t, "authenticated", map[string]any{"read": "notes"}) + `",` + private + `}`
	early, late := connect(t, s), connect(t, s)
	early.join("realtime:notes", join)
	s.FromDatabase(changes.Broadcast{Topic: "notes", Event: eventPolicies, Extension: "broadcast", Private: true,
		Payload: []byte(`{}`), XID: 7})
	early.want(eventPolicies)
	gone := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(gone) })
	defer goOn()
	rules.during(func() { // the check of late has seen the old policies
		rules.fail(messages.ErrPolicy)
		close(db.visible)
		<-gone
	})
	late.send("realtime:notes", "phx_join", join)
	early.want("phx_close")
	goOn()
	late.want("phx_close")
}

// TestPoliciesAfterGap checks that private channels end whose users lost the right to read while no
// events of the database arrived.
func TestPoliciesAfterGap(t *testing.T) {
	rules := &store{}
	s := serve(t, func(o *Options) { o.Messages = rules })
	join := `{"access_token":"` + sign(t, "authenticated", map[string]any{"read": "notes"}) + `",` + private + `}`
	a, public := connect(t, s), connect(t, s)
	a.join("realtime:notes", join)
	public.join("realtime:notes", `{"config":{}}`)
	rules.fail(messages.ErrPolicy)
	s.Reverify()
	a.want("phx_close")
	public.none("phx_close")
}
