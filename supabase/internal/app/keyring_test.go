package app

import (
	"testing"
	"time"

	"daawo/supabase/internal/keys"
)

// TestRetiredKeyEndsByTheServersClock: also among the keys that a rotation has made known and not yet taken into use.
func TestRetiredKeyEndsByTheServersClock(t *testing.T) {
	now := time.Now().AddDate(0, 1, 0)
	old, err := keys.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ring := newKeyring(old, func() time.Time { return now })
	next := old
	next.Retired = []keys.Retired{{Key: "sb_publishable_retired", Until: now.AddDate(0, 0, -1)}}
	ring.learn(next)
	if _, ok := ring.Resolve("sb_publishable_retired"); ok {
		t.Error("a key opens after its end")
	}
	now = now.AddDate(0, 0, -2)
	if _, ok := ring.Resolve("sb_publishable_retired"); !ok {
		t.Error("a key does not open before its end")
	}
}
