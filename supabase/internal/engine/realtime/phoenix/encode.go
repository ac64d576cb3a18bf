package phoenix

import (
	"encoding/json"
	"unicode/utf8"
)

// AppendString appends text as a JSON string. It replaces invalid UTF-8.
func AppendString(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
			i++
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		}
	}
	return append(dst, '"')
}

// AppendMessage appends the text frame of a message to a client. payload must be JSON, and so must
// joinRef and ref; nil means null.
func (v Version) AppendMessage(dst []byte, joinRef, ref json.RawMessage, topic, event string, payload []byte) []byte {
	if v == v1 {
		dst = append(dst, `{"event":`...)
		dst = AppendString(dst, event)
		dst = append(dst, `,"payload":`...)
		dst = append(dst, payload...)
		dst = append(dst, `,"ref":`...)
		dst = appendRef(dst, ref)
		dst = append(dst, `,"topic":`...)
		dst = AppendString(dst, topic)
		return append(dst, '}')
	}
	dst = append(dst, '[')
	dst = appendRef(dst, joinRef)
	dst = append(dst, ',')
	dst = appendRef(dst, ref)
	dst = append(dst, ',')
	dst = AppendString(dst, topic)
	dst = append(dst, ',')
	dst = AppendString(dst, event)
	dst = append(dst, ',')
	dst = append(dst, payload...)
	return append(dst, ']')
}

func appendRef(dst []byte, ref json.RawMessage) []byte {
	if len(ref) == 0 {
		return append(dst, null...)
	}
	return append(dst, ref...)
}

// AppendReply appends the text frame of a reply. status is ok or error; response must be JSON.
func (v Version) AppendReply(dst []byte, joinRef, ref json.RawMessage, topic, status string, response []byte) []byte {
	payload := make([]byte, 0, len(response)+32)
	payload = append(payload, `{"response":`...)
	payload = append(payload, response...)
	payload = append(payload, `,"status":`...)
	payload = AppendString(payload, status)
	payload = append(payload, '}')
	return v.AppendMessage(dst, joinRef, ref, topic, "phx_reply", payload)
}

// AppendUserBroadcast appends a user broadcast to the subscribers of a topic, and reports whether
// it is a binary frame. meta is JSON or nil. ok is false if the version or the frame cannot
// represent the broadcast; upstream drops it, too.
func (v Version) AppendUserBroadcast(dst []byte, topic string, b UserBroadcast, meta []byte) (out []byte, binary,
	ok bool) {
	if v == v1 {
		if !b.JSON {
			return dst, false, false
		}
		return v.AppendMessage(dst, nil, nil, topic, "broadcast", BroadcastPayload(b.Event, b.Data, meta)), false, true
	}
	if len(topic) > maxField || len(b.Event) > maxField || len(meta) > maxField {
		return dst, true, false
	}
	encoding := byte(encodingBinary)
	if b.JSON {
		encoding = encodingJSON
	}
	dst = append(dst, kindUserBroadcast, byte(len(topic)), byte(len(b.Event)), byte(len(meta)), encoding)
	dst = append(dst, topic...)
	dst = append(dst, b.Event...)
	dst = append(dst, meta...)
	return append(dst, b.Data...), true, true
}

// BroadcastPayload returns the payload of the event broadcast with a user's event and payload.
// payload must be JSON. meta is JSON or nil.
func BroadcastPayload(event string, payload, meta []byte) []byte {
	dst := make([]byte, 0, len(payload)+len(event)+len(meta)+64)
	dst = append(dst, `{"event":`...)
	dst = AppendString(dst, event)
	if len(meta) > 0 {
		dst = append(dst, `,"meta":`...)
		dst = append(dst, meta...)
	}
	dst = append(dst, `,"payload":`...)
	dst = append(dst, payload...)
	return append(dst, `,"type":"broadcast"}`...)
}
