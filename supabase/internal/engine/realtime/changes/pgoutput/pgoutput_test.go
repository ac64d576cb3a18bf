package pgoutput

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// message builds a message: strings get a final zero byte.
func message(kind byte, parts ...any) []byte {
	out := []byte{kind}
	for _, p := range parts {
		switch p := p.(type) {
		case byte:
			out = append(out, p)
		case uint16:
			out = binary.BigEndian.AppendUint16(out, p)
		case uint32:
			out = binary.BigEndian.AppendUint32(out, p)
		case uint64:
			out = binary.BigEndian.AppendUint64(out, p)
		case string:
			out = append(append(out, p...), 0)
		case []byte:
			out = append(out, p...)
		}
	}
	return out
}

// row builds a tuple: nil is null, the byte 'u' an unchanged value.
func row(values ...any) []byte {
	out := binary.BigEndian.AppendUint16(nil, uint16(len(values)))
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			out = append(out, 'n')
		case byte:
			out = append(out, v)
		case string:
			out = append(binary.BigEndian.AppendUint32(append(out, 't'), uint32(len(v))), v...)
		}
	}
	return out
}

var samples = []struct {
	data []byte
	want any
}{
	{message('B', uint64(7), uint64(1_500_000), uint32(9)),
		Begin{7, time.Date(2000, 1, 1, 0, 0, 1, 500_000_000, time.UTC), 9}},
	{message('C', byte(0), uint64(7), uint64(8), uint64(0)), Commit{7, 8, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}},
	{
		message('R', uint32(1), "public", "notes", byte('d'), uint16(2), byte(1), "id", uint32(20), ^uint32(0), byte(0),
			"body", uint32(25), ^uint32(0)),
		Relation{1, "public", "notes", 'd', []Column{{true, "id", 20, -1}, {false, "body", 25, -1}}},
	},
	{message('I', uint32(1), byte('N'), row("1", nil, "")), Insert{1, Tuple{{Text, "1"}, {Null, ""}, {Text, ""}}}},
	{message('U', uint32(1), byte('N'), row("1", byte('u'))),
		Update{Relation: 1, New: Tuple{{Text, "1"}, {Unchanged, ""}}}},
	{
		message('U', uint32(1), byte('K'), row("1", nil), byte('N'), row("2", "x")),
		Update{1, Tuple{{Text, "1"}, {Null, ""}}, Tuple{{Text, "2"}, {Text, "x"}}, true},
	},
	{message('D', uint32(1), byte('O'), row("1", "x")), Delete{1, Tuple{{Text, "1"}, {Text, "x"}}, false}},
	{message('D', uint32(1), byte('K'), row("1", nil)), Delete{1, Tuple{{Text, "1"}, {Null, ""}}, true}},
	{message('T', uint32(2), byte(0), uint32(1), uint32(2)), Truncate{[]uint32{1, 2}}},
	{message('Y', uint32(1), "public", "mood"), Other{'Y'}},
	{message('M', byte(0)), Other{'M'}},
}

func TestDecode(t *testing.T) {
	for _, s := range samples {
		got, err := Decode(s.data)
		if err != nil {
			t.Errorf("%q: %v", s.data, err)
			continue
		}
		if diff := cmp.Diff(s.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestDecodeCutMessages decodes all prefixes of the samples. Each must fail, unless its kind is
// ignored.
func TestDecodeCutMessages(t *testing.T) {
	for _, s := range samples {
		if _, ignored := s.want.(Other); ignored {
			continue
		}
		for n := range len(s.data) {
			if got, err := Decode(s.data[:n]); err == nil {
				t.Errorf("%q: decoded %d of %d bytes as %v", s.data, n, len(s.data), got)
			}
		}
		if _, err := Decode(append(s.data[:len(s.data):len(s.data)], 0)); err == nil {
			t.Errorf("%q: decoded with a byte too many", s.data)
		}
	}
}

// FuzzDecode checks that any input gives a message or an error, that a message does not share
// memory with the input, and that no message is much larger than its input.
func FuzzDecode(f *testing.F) {
	for _, s := range samples {
		f.Add(s.data)
	}
	f.Add(message('I', uint32(1), byte('N'), []byte{0xff, 0xff}))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Decode(data)
		if err != nil {
			if got != nil || !strings.Contains(err.Error(), " ") {
				t.Fatalf("%v with error %v", got, err)
			}
			return
		}
		again, _ := Decode(data)
		for i := range data {
			data[i] ^= 0xff
		}
		if !reflect.DeepEqual(got, again) {
			t.Fatalf("the message %v shares memory with its input", got)
		}
		var values int
		switch m := got.(type) {
		case Insert:
			values = len(m.New)
		case Update:
			values = len(m.New) + len(m.Old)
		case Delete:
			values = len(m.Old)
		case Relation:
			values = len(m.Columns)
		case Truncate:
			values = len(m.Relations)
		}
		if values > len(data) {
			t.Fatalf("%d values from %d bytes", values, len(data))
		}
	})
}
