package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"daawo/supabase/internal/base/network"
	"daawo/supabase/internal/engine/realtime/changes"
	"daawo/supabase/internal/engine/realtime/phoenix"
)

// maxBindings is how many entries of postgres_changes a join may have.
const maxBindings = 100

// bindings returns the subscriptions to Postgres changes that a join asks for, and the response to
// the join, which names the id of each. wrong is why bindings cannot be subscribed to: the channel
// is joined nevertheless, as upstream does.
func (c *channel) bindings(r joinRequest) (bindings []changes.Binding, joined json.RawMessage, wrong, err error) {
	entries := r.postgresChanges
	if len(entries) > maxBindings {
		return nil, nil, nil, refuse(fmt.Sprintf("InvalidJoinPayload: More than %d postgres_changes", maxBindings))
	}
	if !r.hasConfig {
		entries = []json.RawMessage{topicBinding(c.key.name)}
	}
	response := []byte(`{"postgres_changes":[`)
	for i, entry := range entries {
		members := object(entry)
		if members == nil {
			return nil, nil, nil, refuse("UnknownErrorOnChannel: postgres_changes must be an array of maps")
		}
		id := bindingID(members)
		members["id"] = json.RawMessage(strconv.FormatInt(id, 10))
		named, err := json.Marshal(members)
		if err != nil {
			return nil, nil, nil, err
		}
		if i > 0 {
			response = append(response, ',')
		}
		response = append(response, named...)
		binding, err := changes.ParseBinding(id, entry)
		if err != nil {
			wrong = errors.Join(wrong, err)
		}
		if _, wants := members["since"]; wants {
			since, err := changes.ParseSince(text(members["since"]))
			if err != nil {
				text := "Error parsing `since` params: " + err.Error()
				wrong = errors.Join(wrong, &changes.SubscribeError{Message: text})
			}
			binding.Since = &since
		}
		bindings = append(bindings, binding)
	}
	return bindings, append(response, "]}"...), wrong, nil
}

// topicBinding returns the binding of a client of the first version: its topic is schema,
// schema:table or schema:table:filter.
func topicBinding(topic string) json.RawMessage {
	parts := strings.SplitN(topic, ":", 3)
	members := map[string]string{}
	for i, name := range []string{"schema", "table", "filter"}[:len(parts)] {
		members[name] = parts[i]
	}
	entry, _ := json.Marshal(members) // strings
	return entry
}

// bindingID returns an id that depends on the members only, as upstream's.
func bindingID(members map[string]json.RawMessage) int64 {
	h := fnv.New32a()
	canonical, _ := json.Marshal(members) // sorted by name; the values are valid JSON
	_, _ = h.Write(canonical)             // never fails
	const bits = 27
	return int64(h.Sum32() & (1<<bits - 1))
}

// subscription keeps a channel subscribed to Postgres changes.
type subscription struct {
	c        *channel
	bindings []changes.Binding
	wrong    error // why the bindings cannot be subscribed to
	named    bool  // messages have the event postgres_changes and ids, unlike those to clients of the first version

	since *changes.Since // nil: messages have no positions
	last  atomic.Uint64  // position in the last message

	mu     sync.Mutex
	cancel context.CancelFunc
	done   chan struct{} // of the last goroutine; nil before the first
	id     int64         // of the subscriber; 0 for none
	ended  bool
}

// retryAfter returns the wait before another attempt to subscribe: 1 to 3 s at first, which
// suffices for a database that starts again, and then 5 to 10 s. Upstream has both waits, for a
// missing connection and for errors.
func retryAfter(attempt int) time.Duration {
	if attempt < 3 {
		return time.Second + rand.N(2*time.Second)
	}
	return 5*time.Second + rand.N(5*time.Second)
}

// start subscribes, or renews the claims of the subscriber, in the background, until it succeeds.
func (s *subscription) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	previous := s.done
	if s.cancel != nil {
		s.cancel()
	}
	ctx, cancel := context.WithCancel(s.c.s.e.ctx)
	done := make(chan struct{})
	s.cancel, s.done = cancel, done
	s.c.spawn(func() {
		defer close(done)
		defer cancel()
		if previous != nil {
			<-previous
		}
		s.keepTrying(ctx)
	})
}

// sayWhyAfter is how long an attempt may take before the client is told why it takes so long.
const sayWhyAfter = 3 * time.Second

func (s *subscription) keepTrying(ctx context.Context) {
	said := ""
	say := func(why string) {
		if why != said { // once, however often it is tried again
			said = why
			s.c.system(eventChanges, "error", why)
		}
	}
	for attempt := 0; ctx.Err() == nil; attempt++ {
		err := s.subscribeOrSay(ctx, say)
		var final *changes.SubscribeError
		switch {
		case err == nil:
			return
		case errors.As(err, &final):
			s.c.system(eventChanges, "error", final.Message)
			return
		case ctx.Err() != nil:
			return
		}
		s.c.s.e.o.Log.Warn("Postgres changes", "error", err)
		say(failureText(err))
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter(attempt)):
		}
	}
}

// failureText returns what a client is told about a failed attempt.
func failureText(err error) string {
	if why := changes.ClientText(err); why != "" {
		return "Subscribing to PostgreSQL failed: " + why
	}
	return "Subscribing to PostgreSQL failed; retrying"
}

// subscribeOrSay makes one attempt. If it takes long, it says why.
func (s *subscription) subscribeOrSay(ctx context.Context, say func(string)) error {
	ended := make(chan error, 1)
	s.c.spawn(func() { ended <- s.subscribe(ctx) })
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(sayWhyAfter):
			if why := changes.ClientText(s.c.s.e.o.Changes.Ready()); why != "" {
				say("Subscribing to PostgreSQL: " + why)
			}
		}
	}
}

// confirm tells the client that every later change arrives. reason says why the client may have
// missed changes before, or is "".
func (s *subscription) confirm(reason string) {
	position := ""
	if s.since != nil {
		position = changes.FormatPosition(s.last.Load())
	}
	s.c.systemBecause(eventChanges, "ok", "Subscribed to PostgreSQL", reason, position)
}

// resumed confirms the subscription, also again after changes were lost, as upstream does after it
// has lost the connection to the database. The client can read the table now.
func (s *subscription) resumed(reason string, position uint64) {
	s.last.Store(position)
	if !s.c.closed.Load() {
		s.confirm(reason)
	}
}

var errNoChanges = &changes.SubscribeError{Message: "Postgres changes are not available on this server"}

// subscribe makes one attempt, and confirms the subscription.
func (s *subscription) subscribe(ctx context.Context) error {
	stream, claims := s.c.s.e.o.Changes, s.c.current()
	switch {
	case stream == nil:
		return errNoChanges
	case s.wrong != nil:
		return s.wrong
	}
	s.mu.Lock()
	id := s.id
	s.mu.Unlock()
	if id != 0 {
		err := stream.SetClaims(ctx, id, claims.role, claims.all)
		if err == nil {
			s.confirm("")
			return nil
		}
		s.set(0) // the stream has removed it
		var final *changes.SubscribeError
		if errors.As(err, &final) {
			return err
		}
	}
	from := s.from()
	if from != nil {
		release, err := s.c.s.e.replays.Take(ctx, replayTurns(s.c.s.networks)...)
		if err != nil {
			return err
		}
		defer release()
	}
	joined := func(position uint64, reason string) { s.resumed(reason, position) }
	id, err := stream.Subscribe(ctx, changes.Subscriber{Role: claims.role, Claims: claims.all, Bindings: s.bindings,
		Deliver: s.deliver, Resumed: s.resumed, Since: from, Joined: joined,
		Ready: s.c.s.out.awaitRoom})
	switch {
	case err != nil:
		return err
	case !s.set(id):
		stream.Unsubscribe(id)
	case from == nil:
		s.confirm("")
	}
	return nil
}

// replaysAtOnce is how many channels of one client may get earlier changes at the same time.
const replaysAtOnce = 4

// replayTurns returns the turns of a client and its networks, the smallest first. Programs of this
// machine have none, and do not wait.
func replayTurns(client []network.Part) (wanted []changes.Turn) {
	for _, part := range client {
		wanted = append(wanted, changes.Turn{Key: part.Key, AtOnce: replaysAtOnce * part.Share})
	}
	return wanted
}

// earliest returns the earliest Since of bindings: nil if none has one, and now if one has the zero
// Since only.
func earliest(bindings []changes.Binding) (since *changes.Since) {
	for _, b := range bindings {
		switch {
		case b.Since == nil:
		case since == nil, *since == changes.Since{}, b.Since.Position != 0 && b.Since.Position < since.Position,
			b.Since.Position == 0 && !b.Since.Time.IsZero() && b.Since.Time.Before(since.Time):
			since = b.Since
		}
	}
	return since
}

// from returns from where the subscriber wants changes, nil if it wants none of before.
func (s *subscription) from() *changes.Since {
	if last := s.last.Load(); s.since != nil && last > 0 {
		return &changes.Since{Position: last}
	}
	return s.since
}

// set stores the id of the subscriber, unless the subscription has ended.
func (s *subscription) set(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.id = id
	return true
}

// end unsubscribes.
func (s *subscription) end() {
	s.mu.Lock()
	id := s.id
	s.id, s.ended = 0, true
	if s.cancel != nil {
		s.cancel()
	}
	s.mu.Unlock()
	if id != 0 {
		s.c.s.e.o.Changes.Unsubscribe(id)
	}
}

// deliver sends a change to the client.
func (s *subscription) deliver(change changes.Change) {
	e := s.c.s.e
	e.metrics.changes.Inc()
	if s.since == nil {
		change.Position = 0
	}
	s.c.s.send(e.changeFrame(s.c.s.version, s.c.topic, s.named, change))
	s.last.Store(change.Position) // not before: another message must not confirm the change
}

// frames shares the encoded frame of a change among channels with equal topic, ids and serializer.
type frames struct {
	mu    sync.Mutex
	data  json.RawMessage // of the frames below
	known map[frameKey][]byte
}

type frameKey struct {
	topic, ids string
	version    phoenix.Version
	named      bool
	position   uint64
}

func (e *Engine) changeFrame(v phoenix.Version, topic string, named bool, change changes.Change) []byte {
	ids := appendIDs(make([]byte, 0, 32), change.IDs)
	key := frameKey{topic, string(ids), v, named, change.Position}
	f := &e.frames
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.data) == 0 || len(change.Data) == 0 || &f.data[0] != &change.Data[0] {
		f.data = change.Data
		clear(f.known)
	}
	if frame, ok := f.known[key]; ok {
		return frame
	}
	event, payload := change.Type, []byte(change.Data)
	if named {
		event = eventChanges
		payload = slices.Concat([]byte(`{"data":`), change.Data, []byte(`,"ids":`), ids)
		if change.Position != 0 {
			payload = append(payload, `,"position":"`+changes.FormatPosition(change.Position)+`"`...)
		}
		payload = append(payload, '}')
	}
	frame := newFrame(false, len(payload)+len(topic)+96, func(dst []byte) []byte {
		return v.AppendMessage(dst, nil, nil, topic, event, payload)
	})
	if f.known == nil {
		f.known = map[frameKey][]byte{}
	}
	f.known[key] = frame
	return frame
}

func appendIDs(dst []byte, ids []int64) []byte {
	dst = append(dst, '[')
	for i, id := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, id, 10)
	}
	return append(dst, ']')
}

// renew replaces the channel's token.
func (c *channel) renew(payload json.RawMessage) {
	token := text(object(payload)["access_token"])
	if !c.joined.Load() || token == "" || strings.HasPrefix(token, "sb_") || token == c.current().token {
		return
	}
	identity, err := c.s.e.authorize(token)
	if err != nil {
		c.shutdown(tokenText(err))
		return
	}
	c.setClaims(identity)
	if c.key.private && !c.renewPolicies() {
		return
	}
	if subscription := c.subscription.Load(); subscription != nil {
		subscription.start()
	}
}

// renewPolicies checks the policies for the token. It returns false if it ended the channel.
func (c *channel) renewPolicies() bool {
	before := c.policies
	c.policies = policies{}
	if err := c.authorizeRead(); err != nil {
		why := err.Error()
		if _, text, ok := strings.Cut(why, ": "); ok {
			why = text // shutdown messages have no code
		}
		c.shutdown(why)
		return false
	}
	if before.readBroadcast == allowed && c.policies.readBroadcast == denied ||
		before.readPresence == allowed && c.policies.readPresence == denied {
		c.shutdown("You no longer have permission to read from this Channel topic: " + c.key.name)
		return false
	}
	return true
}
