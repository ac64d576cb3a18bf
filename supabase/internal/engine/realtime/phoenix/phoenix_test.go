package phoenix

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name    string
		version Version
		text    string
		want    string // join_ref ref topic event payload
	}{
		{"object", v1, `{"topic":"realtime:a","event":"phx_join","payload":{"x":1},"ref":"1","join_ref":"2"}`,
			`"2" "1" realtime:a phx_join {"x":1}`},
		{"object without refs", v1, `{"topic":"phoenix","event":"heartbeat","payload":{}}`,
			`null null phoenix heartbeat {}`},
		{"array", v2, `["1","2","realtime:a","phx_join",{"x":1}]`, `"1" "2" realtime:a phx_join {"x":1}`},
		{"array with more elements", v2, `[null,7,"phoenix","heartbeat",{},1]`, `null 7 phoenix heartbeat {}`},
	} {
		m, err := Decode(c.version, false, []byte(c.text))
		got := strings.Join([]string{string(m.JoinRef), string(m.Ref), m.Topic, m.Event, string(m.Payload)}, " ")
		if err != nil || got != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.name, got, err, c.want)
		}
	}
	for _, bad := range []struct {
		version Version
		binary  bool
		text    string
	}{
		{v1, false, `[]`}, {v1, false, `{"topic":"a"}`}, {v2, false, `{}`}, {v2, false, `[1,2,3]`},
		{v2, false, `[1,2,null,"e",{}]`},
		{v2, false, `[{},2,"t","e",{}]`}, {v2, false, "[null,null,\"t\",\"e\",\"\xff\"]"}, {v1, true, "\x00"},
		{v2, true, ""}, {v2, true, "\x09"}, {v2, true, "\x03\x01\x01\x01\x01\x00\x00"},
		{v2, true, "\x03\x00\x00\x01\x01\x00\x01te{"}, {v2, true, "\x00\x00\x00\x01"},
	} {
		if _, err := Decode(bad.version, bad.binary, []byte(bad.text)); !errors.Is(err, errMalformed) {
			t.Errorf("%q: got %v, want ErrMalformed", bad.text, err)
		}
	}
}

func TestDecodeBinary(t *testing.T) {
	m, err := Decode(v2, true, []byte("\x03\x01\x02\x0a\x04\x02\x0012"+"3"+"realtime:a"+"move"+"{}"+"\x01\x02"))
	if err != nil || string(m.JoinRef) != `"1"` || string(m.Ref) != `"23"` || m.Topic != "realtime:a" ||
		m.Event != "broadcast" ||
		m.User == nil || m.User.Event != "move" || m.User.JSON || string(m.User.Data) != "\x01\x02" {
		t.Fatalf("got %+v %+v, %v", m, m.User, err)
	}
	m, err = Decode(v2, true, []byte("\x00\x01\x01\x01\x0512tevent\xff"))
	if err != nil || m.Topic != "t" || m.Event != "event" || string(m.Binary) != "\xff" {
		t.Fatalf("got %+v, %v", m, err)
	}
}

func TestEncode(t *testing.T) {
	ref := json.RawMessage(`"3"`)
	for _, c := range []struct{ name, got, want string }{
		{"message 1.0.0", string(v1.AppendMessage(nil, ref, nil, "t", "e", []byte(`{}`))),
			`{"event":"e","payload":{},"ref":null,"topic":"t"}`},
		{"message 2.0.0", string(v2.AppendMessage(nil, ref, nil, "t", "e", []byte(`{}`))), `["3",null,"t","e",{}]`},
		{"reply 1.0.0", string(v1.AppendReply(nil, nil, ref, "t", "ok", []byte(`{}`))),
			`{"event":"phx_reply","payload":{"response":{},"status":"ok"},"ref":"3","topic":"t"}`},
		{"reply 2.0.0", string(v2.AppendReply(nil, ref, ref, "t", "error", []byte(`{"a":1}`))),
			`["3","3","t","phx_reply",{"response":{"a":1},"status":"error"}]`},
		{"string", string(AppendString(nil, "a\"\\\n\xffé")), `"a\"\\\u000a�é"`},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
}

func TestEncodeUserBroadcast(t *testing.T) {
	json1 := UserBroadcast{Event: "e", JSON: true, Data: []byte(`{"a":1}`)}
	binary := UserBroadcast{Event: "e", Data: []byte{0, 255}}
	if got, isBinary, ok := v2.AppendUserBroadcast(nil, "t", json1, []byte(`{"id":"1"}`)); !ok || !isBinary ||
		string(got) != "\x04\x01\x01\x0a\x01te{\"id\":\"1\"}{\"a\":1}" {
		t.Errorf("JSON in 2.0.0: got %q", got)
	}
	if got, _, ok := v2.AppendUserBroadcast(nil, "t", binary, nil); !ok ||
		string(got) != "\x04\x01\x01\x00\x00te\x00\xff" {
		t.Errorf("binary in 2.0.0: got %q", got)
	}
	if got, isBinary, ok := v1.AppendUserBroadcast(nil, "t", json1, nil); !ok || isBinary ||
		!strings.Contains(string(got), `{"event":"e","payload":{"a":1},"type":"broadcast"}`) {
		t.Errorf("JSON in 1.0.0: got %q", got)
	}
	if _, _, ok := v1.AppendUserBroadcast(nil, "t", binary, nil); ok {
		t.Error("serializer 1.0.0 encoded a binary payload")
	}
	if _, _, ok := v2.AppendUserBroadcast(nil, strings.Repeat("t", 256), binary, nil); ok {
		t.Error("a topic of 256 bytes was encoded")
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]Version{"": v1, "1.0.0": v1, "2.0.0": v2, "3.0.0": 0} {
		if got, ok := ParseVersion(text); got != want || ok != (want != 0) {
			t.Errorf("%q: got %v, %v", text, got, ok)
		}
	}
}

// FuzzDecode checks that Decode never panics, and that a decoded message can be encoded as valid
// text for other clients.
func FuzzDecode(f *testing.F) {
	f.Add(2, false, []byte(`["1","2","realtime:a","phx_join",{"x":1}]`))
	f.Add(1, false, []byte(`{"topic":"realtime:a","event":"e","payload":{"x":1},"ref":"1"}`))
	f.Add(2, true, []byte("\x03\x01\x02\x0a\x04\x02\x01123realtime:amove{}{}"))
	f.Add(2, true, []byte("\x00\x01\x01\x01\x0512tevent\xff"))
	f.Fuzz(func(t *testing.T, version int, binary bool, data []byte) {
		v := v1
		if version%2 == 0 {
			v = v2
		}
		m, err := Decode(v, binary, data)
		if err != nil {
			return
		}
		payload := m.Payload
		if m.User != nil && m.User.JSON {
			payload = BroadcastPayload(m.User.Event, m.User.Data, nil)
		} else if payload == nil {
			payload = null
		}
		for _, to := range []Version{v1, v2} {
			for _, text := range [][]byte{
				to.AppendMessage(nil, m.JoinRef, m.Ref, m.Topic, m.Event, payload),
				to.AppendReply(nil, m.JoinRef, m.Ref, m.Topic, "ok", payload),
			} {
				if !json.Valid(text) || !utf8.Valid(text) {
					t.Fatalf("%q is not valid JSON", text)
				}
			}
		}
	})
}
