package realtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"daawo/supabase/internal/engine/realtime/phoenix"
	"daawo/supabase/internal/engine/realtime/presence"
)

// Errors that end the channel.
const (
	errClientRate   = clientError("Client presence rate limit exceeded")
	errPresenceRate = clientError("Too many presence messages per second")
	errTrackSize    = clientError("Track message size exceeded")
)

// errPresence gets an error reply without a reason.
var errPresence = errors.New("presence message failed")

// presence handles track and untrack.
func (c *channel) presence(m phoenix.Message) {
	if !c.joined.Load() {
		return
	}
	switch err := c.present(m.Payload); {
	case err == nil:
		c.s.reply(c.joinRef, m.Ref, c.topic, "ok", emptyObject)
	case errors.Is(err, errClientRate), errors.Is(err, errPresenceRate), errors.Is(err, errTrackSize):
		c.shutdown(err.Error())
	case errors.Is(err, presence.ErrPayload):
		c.s.reply(c.joinRef, m.Ref, c.topic, "error", reason("Presence track payload must be a map"))
	default:
		c.s.reply(c.joinRef, m.Ref, c.topic, "error", emptyObject)
	}
}

func (c *channel) present(raw json.RawMessage) error {
	message := object(raw)
	event, ok := message["event"]
	if !ok {
		return nil
	}
	if !c.countPresence() {
		return errClientRate
	}
	switch strings.ToLower(text(event)) {
	case "track":
		if c.key.private {
			if err := c.authorizeTrack(); err != nil {
				return err
			}
		}
		return c.track(message["payload"])
	case "untrack":
		c.tracked = nil
		c.s.e.presence.Untrack(c.id)
		return nil
	}
	return errPresence
}

// countPresence reports whether the client may send another presence message in the current window.
func (c *channel) countPresence() bool {
	settings, now := c.s.e.settings.Load(), c.s.e.o.Now()
	if now.After(c.presenceReset) {
		c.presenceCalls, c.presenceReset = 0, now.Add(settings.ClientPresenceWindow)
	}
	c.presenceCalls++
	return c.presenceCalls <= settings.ClientPresenceEvents
}

// authorizeTrack checks the policies for presence, once per token. A client that did not ask for
// presence gets it from now on if it may read it.
func (c *channel) authorizeTrack() error {
	if c.policies.writePresence == unknown {
		ctx, cancel := c.databaseContext()
		defer cancel()
		store := c.s.e.o.Messages
		if c.policies.readPresence == unknown {
			grant, err := store.CanRead(ctx, c.identity(), c.key.name, true)
			if err != nil {
				c.s.e.o.Log.Warn("presence was not checked", "error", err)
				return errPresence
			}
			c.policies.readPresence = verdictOf(grant.Presence)
		}
		grant, err := store.CanWrite(ctx, c.identity(), c.key.name, true)
		if err != nil {
			c.s.e.o.Log.Warn("presence was not checked", "error", err)
			return errPresence
		}
		c.policies.writePresence = verdictOf(grant.Presence)
		c.applyPolicies()
	}
	if c.policies.writePresence != allowed {
		return errPresence
	}
	return nil
}

func (c *channel) track(payload json.RawMessage) error {
	if len(payload) == 0 {
		payload = emptyObject
	}
	if bytes.Equal(payload, c.tracked) {
		return nil
	}
	e := c.s.e
	if !e.settings.Load().fits(len(payload)) {
		return errTrackSize
	}
	if e.presenceEvents.add(1) {
		return errPresenceRate
	}
	if err := e.presence.Track(c.id, c.key.String(), c.presenceKey, payload); err != nil {
		return err
	}
	c.tracked, c.presenceEnabled = bytes.Clone(payload), true
	if c.closed.Load() {
		e.presence.Untrack(c.id)
	}
	return nil
}

// sendPresenceState sends the members of the topic. It returns false if it ended the channel.
func (c *channel) sendPresenceState() bool {
	if !c.seesPresence.Load() {
		return true
	}
	if c.s.e.presenceEvents.add(1) {
		c.shutdown(errPresenceRate.Error())
		return false
	}
	c.push(eventPresenceState, nil, c.s.e.presence.State(c.key.String()))
	return true
}

// presenceDiff sends a difference of presence to the channels of this replica.
func (e *Engine) presenceDiff(topic string, d presence.Diff) {
	e.hub.publish(parseTopicKey(topic), &message{event: eventPresenceDiff, payload: d.JSON()}, nil)
}
