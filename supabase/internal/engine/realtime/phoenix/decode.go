package phoenix

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Version is a serializer.
type Version int

// The serializers. v1 has no binary frames.
const (
	v1 Version = 1
	v2 Version = 2
)

// ParseVersion returns the serializer of the query parameter vsn. Clients without the parameter use
// v1.
func ParseVersion(vsn string) (Version, bool) {
	major, _, _ := strings.Cut(vsn, ".")
	switch major {
	case "", "1":
		return v1, true
	case "2":
		return v2, true
	}
	return 0, false
}

// Kinds of binary frames, in their first byte. Replies (1) and broadcasts (2) with binary payloads
// are not sent.
const (
	kindPush          = 0
	kindUserPush      = 3
	kindUserBroadcast = 4
)

// Encodings of the payload of a user broadcast.
const (
	encodingBinary = 0
	encodingJSON   = 1
)

// maxField is the largest size of a field in a binary frame, in bytes: its length is one byte.
const maxField = 255

// Message is a message of a client. At most one of Payload, User and Binary is set.
type Message struct {
	Size         int             // of the frame, in bytes
	JoinRef, Ref json.RawMessage // as the client sent them; null if missing
	Topic, Event string
	Payload      json.RawMessage // valid JSON
	User         *UserBroadcast  // a broadcast in a binary frame; Event is "broadcast"
	Binary       []byte          // payload of another binary frame
}

// UserBroadcast is a broadcast whose payload the server does not read.
type UserBroadcast struct {
	Event string
	JSON  bool // the payload is JSON
	Data  []byte
}

// errMalformed is the error of Decode. It wraps the reason.
var errMalformed = errors.New("the message is malformed")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errMalformed}, args...)...)
}

var null = json.RawMessage("null")

// Decode decodes a text or binary frame of a client. The message refers to data.
func Decode(v Version, binary bool, data []byte) (Message, error) {
	m, err := decode(v, binary, data)
	m.Size = len(data)
	return m, err
}

func decode(v Version, binary bool, data []byte) (Message, error) {
	switch {
	case binary && v == v1:
		return Message{}, malformed("serializer 1.0.0 has no binary frames")
	case binary:
		return decodeBinary(data)
	case !utf8.Valid(data):
		return Message{}, malformed("text is not UTF-8")
	case v == v1:
		return decodeObject(data)
	}
	return decodeArray(data)
}

func decodeObject(data []byte) (Message, error) {
	var m struct {
		Topic   *string         `json:"topic"`
		Event   *string         `json:"event"`
		Payload json.RawMessage `json:"payload"`
		Ref     json.RawMessage `json:"ref"`
		JoinRef json.RawMessage `json:"join_ref"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return Message{}, malformed("%v", err)
	}
	if m.Topic == nil || m.Event == nil {
		return Message{}, malformed("topic or event is missing")
	}
	out := Message{JoinRef: m.JoinRef, Ref: m.Ref, Topic: *m.Topic, Event: *m.Event, Payload: m.Payload}
	return out.complete()
}

func decodeArray(data []byte) (Message, error) {
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return Message{}, malformed("%v", err)
	}
	if len(parts) < 5 {
		return Message{}, malformed("%d elements instead of 5", len(parts))
	}
	m := Message{JoinRef: parts[0], Ref: parts[1], Payload: parts[4]}
	for i, to := range []*string{&m.Topic, &m.Event} {
		if err := json.Unmarshal(parts[i+2], to); err != nil || bytes.Equal(parts[i+2], null) {
			return Message{}, malformed("topic or event is not a string")
		}
	}
	return m.complete()
}

// complete sets missing values and checks that the refs are scalars.
func (m Message) complete() (Message, error) {
	for _, ref := range []*json.RawMessage{&m.JoinRef, &m.Ref} {
		if len(*ref) == 0 {
			*ref = null
		}
		if (*ref)[0] == '{' || (*ref)[0] == '[' || len(*ref) > maxField {
			return Message{}, malformed("a ref is not a short scalar")
		}
	}
	if len(m.Payload) == 0 {
		m.Payload = null
	}
	return m, nil
}

// frame reads the fields of a binary frame.
type frame struct {
	rest []byte
	ok   bool
}

func (f *frame) take(n int) []byte {
	if n > len(f.rest) {
		f.ok = false
		return nil
	}
	part := f.rest[:n]
	f.rest = f.rest[n:]
	return part
}

func decodeBinary(data []byte) (Message, error) {
	if len(data) == 0 {
		return Message{}, malformed("empty binary frame")
	}
	f := &frame{rest: data[1:], ok: true}
	switch data[0] {
	case kindPush:
		sizes := f.take(4)
		if !f.ok {
			return Message{}, malformed("binary frame is too short")
		}
		joinRef, ref := f.take(int(sizes[0])), f.take(int(sizes[1]))
		topic, event := f.take(int(sizes[2])), f.take(int(sizes[3]))
		return f.message(joinRef, ref, topic, Message{Event: string(event), Binary: f.rest})
	case kindUserPush:
		sizes := f.take(6)
		if !f.ok {
			return Message{}, malformed("binary frame is too short")
		}
		joinRef, ref := f.take(int(sizes[0])), f.take(int(sizes[1]))
		topic, event := f.take(int(sizes[2])), f.take(int(sizes[3]))
		f.take(int(sizes[4])) // metadata, which upstream does not use either
		user := &UserBroadcast{Event: string(event), JSON: sizes[5] != encodingBinary, Data: f.rest}
		if user.JSON && !(utf8.Valid(user.Data) && json.Valid(user.Data)) {
			return Message{}, malformed("payload is not JSON")
		}
		if !utf8.Valid(event) {
			return Message{}, malformed("event is not UTF-8")
		}
		return f.message(joinRef, ref, topic, Message{Event: "broadcast", User: user})
	}
	return Message{}, malformed("unknown kind %d of binary frame", data[0])
}

// message completes m with the fields of the frame. Refs are strings in a binary frame, and an
// empty one means null.
func (f *frame) message(joinRef, ref, topic []byte, m Message) (Message, error) {
	if !f.ok {
		return Message{}, malformed("binary frame is too short")
	}
	if !utf8.Valid(topic) || !utf8.ValidString(m.Event) || !utf8.Valid(joinRef) || !utf8.Valid(ref) {
		return Message{}, malformed("a field is not UTF-8")
	}
	m.Topic, m.JoinRef, m.Ref = string(topic), quoted(joinRef), quoted(ref)
	return m, nil
}

func quoted(text []byte) json.RawMessage {
	if len(text) == 0 {
		return null
	}
	return AppendString(nil, string(text))
}
