package realtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/google/uuid"

	"daawo/supabase/internal/base/network"
	"daawo/supabase/internal/engine/realtime/messages"
)

// joinRequest is the payload of phx_join. As upstream, a part that cannot be read counts as
// missing.
type joinRequest struct {
	token           string
	private         bool
	ack, self       bool
	readyNotice     bool // send a system message once broadcasts from the database arrive
	replay          json.RawMessage
	presence        bool
	presenceKey     string
	hasConfig       bool // false for clients of the first version, which subscribe to changes by their topic
	postgresChanges []json.RawMessage
}

func parseJoin(payload json.RawMessage) joinRequest {
	var r joinRequest
	top := object(payload)
	r.token = text(top["user_token"])
	if r.token == "" {
		r.token = text(top["access_token"])
	}
	config, hasConfig := top["config"]
	r.hasConfig = hasConfig
	c := object(config)
	r.private = flexible(c["private"])
	broadcast := object(c["broadcast"])
	r.ack, r.self, r.readyNotice = flexible(broadcast["ack"]), flexible(broadcast["self"]),
		flexible(broadcast["replication_ready"])
	if replay, ok := broadcast["replay"]; ok {
		r.replay = replay
	}
	presence := object(c["presence"])
	r.presence = flexible(presence["enabled"])
	r.presenceKey = text(presence["key"])
	if r.presenceKey == "" {
		if key := presence["key"]; len(key) > 0 && !bytes.Equal(key, []byte("null")) && key[0] != '"' {
			r.presenceKey = string(key)
		} else {
			r.presenceKey = uuid.NewString()
		}
	}
	var all []json.RawMessage
	_ = json.Unmarshal(c["postgres_changes"], &all) // anything else counts as missing
	for _, one := range all {
		if !bytes.Equal(one, []byte("null")) {
			r.postgresChanges = append(r.postgresChanges, one)
		}
	}
	return r
}

// object returns the members of a JSON object, or nil.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members) // anything else has no members
	return members
}

// text returns a JSON string, or "".
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything else counts as missing
	return s
}

// flexible returns a boolean that clients may also send as a string.
func flexible(raw json.RawMessage) bool {
	return bytes.Equal(raw, []byte("true")) || strings.EqualFold(text(raw), "true")
}

// joinError is a reason for an error reply to a join.
type joinError struct {
	reason     string
	disconnect bool // close the socket, too
}

func (e *joinError) Error() string { return e.reason }

func refuse(reason string) *joinError { return &joinError{reason: reason} }

// join checks a request and opens the channel. others is the number of the socket's other channels.
func (c *channel) join(r joinRequest, ref json.RawMessage, others int) {
	policyChanges := c.s.e.policyChanges.Load()
	replay, err := c.open(r, others)
	if err != nil {
		c.refuseJoin(err, ref)
		return
	}
	bindings, response, wrong, err := c.bindings(r)
	if err != nil {
		c.refuseJoin(err, ref)
		return
	}
	c.s.e.hub.add(c.key, c)
	c.joined.Store(true)
	c.s.e.countChannel(1)
	if c.closed.Load() { // while the database was asked
		c.withdraw()
		return
	}
	if c.key.private && c.s.e.policyChanges.Load() != policyChanges { // before the channel was in the hub
		c.recheck()
	}
	c.s.reply(c.joinRef, ref, c.topic, "ok", response)
	c.sendReplay(replay)
	if c.presenceEnabled && !c.sendPresenceState() {
		return
	}
	if r.readyNotice {
		c.spawn(c.announceReplication)
	}
	if len(bindings) > 0 {
		subscription := &subscription{c: c, bindings: bindings, wrong: wrong, named: r.hasConfig,
			since: earliest(bindings)}
		c.subscription.Store(subscription)
		subscription.start()
		if c.closed.Load() {
			subscription.end()
		}
	}
}

// refuseJoin replies with an error, after a delay.
func (c *channel) refuseJoin(err error, ref json.RawMessage) {
	var refused *joinError
	var token *tokenError
	why := "Unknown Error on Channel"
	switch {
	case errors.As(err, &refused):
		why = refused.reason
	case errors.As(err, &token):
		why = token.Error()
	default:
		c.s.e.o.Log.Error("channel was not joined", "error", err)
	}
	c.s.e.metrics.refused.Inc()
	c.close()
	reply := func() { c.s.reply(c.joinRef, ref, c.topic, "error", reason(why)) }
	switch delay := c.s.e.o.JoinErrorDelay; {
	case refused != nil && refused.disconnect:
		reply()
		c.s.goAway()
	case delay > 0:
		time.AfterFunc(delay, reply)
	default:
		reply()
	}
}

// joinShare is the part of MaxJoinsPerSecond that one client may make over time.
const joinShare = 5

// mayJoin counts a join. At once a client may make MaxJoinsPerSecond, so that many clients can join
// again together. wait is how long the client has to wait if it may not.
func (e *Engine) mayJoin(client []network.Part) (wait time.Duration) {
	settings := e.settings.Load()
	if settings.JoinsInTotal && e.joins.exceeded() {
		return rateTick
	}
	wait = e.clientJoins.wait(client, 1, float64(settings.MaxJoinsPerSecond)/joinShare, e.o.Now())
	if wait == 0 {
		e.joins.add(1)
	}
	return wait
}

// tooManyJoins is the error of a join that has to wait.
func tooManyJoins(wait time.Duration) *joinError {
	seconds := int(math.Ceil(wait.Seconds()))
	return &joinError{fmt.Sprintf("ClientJoinRateLimitReached: Too many joins per second; join again in %d s",
		seconds), true}
}

// open makes the checks of a join in upstream's order and returns the messages to replay.
func (c *channel) open(r joinRequest, others int) ([]messages.Message, error) {
	e, settings := c.s.e, c.s.e.settings.Load()
	switch {
	case c.key.name == "":
		return nil, refuse("TopicNameRequired: You must provide a topic name")
	case len(c.presenceKey) > maxTopic:
		return nil, refuse("InvalidJoinPayload: The presence key is too long")
	case settings.Suspended:
		return nil, refuse("RealtimeDisabledForTenant: Realtime disabled for this tenant")
	case settings.PrivateOnly && !r.private:
		return nil, refuse("PrivateOnly: This project only allows private channels")
	}
	if wait := e.mayJoin(c.s.networks); wait > 0 {
		return nil, tooManyJoins(wait)
	}
	if others >= settings.MaxChannelsPerClient {
		return nil, refuse("ChannelRateLimitReached: Too many channels")
	}
	token := r.token
	if token == "" || strings.HasPrefix(token, "sb_") {
		token = c.s.claims.token
	}
	identity, err := e.authorize(token)
	if err != nil {
		return nil, err
	}
	c.setClaims(identity)
	c.hears.Store(true)
	c.seesPresence.Store(true)
	if r.private {
		if err := c.authorizeRead(); err != nil {
			return nil, err
		}
	}
	return c.loadReplay(r)
}

// authorizeRead checks the policies for reading.
func (c *channel) authorizeRead() error {
	if c.s.e.o.Messages == nil {
		return refuse("UnableToConnectToProject: Realtime was unable to connect to the project database")
	}
	ctx, cancel := c.databaseContext()
	defer cancel()
	grant, err := c.s.e.o.Messages.CanRead(ctx, c.identity(), c.key.name, c.presenceEnabled)
	if err != nil {
		return c.databaseError(err)
	}
	c.policies = policies{readBroadcast: verdictOf(grant.Broadcast)}
	if c.presenceEnabled {
		c.policies.readPresence = verdictOf(grant.Presence)
	}
	if !grant.Broadcast && !grant.Presence {
		return refuse(c.unauthorized())
	}
	c.applyPolicies()
	return nil
}

// applyPolicies makes the delivery follow the policies.
func (c *channel) applyPolicies() {
	c.hears.Store(c.policies.readBroadcast == allowed)
	c.seesPresence.Store(c.policies.readPresence == allowed)
}

func (c *channel) unauthorized() string {
	return "Unauthorized: You do not have permissions to read from this Channel topic: " + c.key.name
}

// databaseError translates an error of a check of policies.
func (c *channel) databaseError(err error) error {
	if c.s.e.ctx.Err() == nil {
		c.s.e.o.Log.Warn("private channel was not checked", "error", err)
	}
	switch {
	case errors.Is(err, messages.ErrPolicy):
		return refuse(c.unauthorized())
	case errors.Is(err, messages.ErrCanceled):
		return refuse("QueryCanceled: Query was cancelled, please try again")
	case errors.Is(err, messages.ErrMissingPartition):
		return refuse("MissingPartition: Realtime was unable to find the expected messages partition")
	case errors.Is(err, messages.ErrTooManyChecks):
		return refuse("IncreaseConnectionPool: Please increase your connection pool size")
	}
	return refuse("UnableToConnectToProject: Realtime was unable to connect to the project database")
}

// loadReplay returns the stored broadcasts that the client asks for.
func (c *channel) loadReplay(r joinRequest) ([]messages.Message, error) {
	if r.replay == nil {
		return nil, nil
	}
	if r.private && c.policies.readBroadcast != allowed {
		return nil, refuse(c.unauthorized())
	}
	if !r.private {
		return nil, refuse("UnableToReplayMessages: Replay is not allowed for public channels")
	}
	parameters := object(r.replay)
	if parameters == nil {
		return nil, nil
	}
	var since int64
	limit := 25
	if json.Unmarshal(parameters["since"], &since) != nil ||
		len(parameters["limit"]) > 0 && !bytes.Equal(parameters["limit"], []byte("null")) &&
			json.Unmarshal(parameters["limit"], &limit) != nil {
		return nil, refuse("UnableToReplayMessages: Replay params are not valid")
	}
	ctx, cancel := c.databaseContext()
	defer cancel()
	stored, err := c.s.e.o.Messages.Replay(ctx, c.key.name, time.UnixMilli(since), limit)
	switch {
	case errors.Is(err, messages.ErrReplayParameters):
		return nil, refuse("UnableToReplayMessages: Replay params are not valid")
	case err != nil:
		c.s.e.o.Log.Warn("messages were not replayed", "error", err)
		return nil, refuse("UnableToReplayMessages: Realtime was unable to replay messages")
	}
	if len(stored) > 0 {
		c.replayed = map[string]bool{}
		for _, m := range stored {
			c.replayed[m.ID] = true
		}
	}
	return stored, nil
}
