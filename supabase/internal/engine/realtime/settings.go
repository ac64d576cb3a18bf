package realtime

import "time"

// Settings are the limits and switches of upstream's tenants. Zero means the default.
type Settings struct {
	MaxConnections             int  // sockets with this server
	MaxConnectionsPerLine      int  // sockets of one home line, see network.Home
	MaxChannelsPerClient       int  // of one socket
	MaxJoinsPerSecond          int  // average of up to a minute
	JoinsInTotal               bool // MaxJoinsPerSecond applies to all clients together, as upstream's limit does
	MaxEventsPerSecond         int  // messages in and out, average of up to a minute
	MaxPresenceEventsPerSecond int  // average of up to a minute
	MaxPayloadKB               int  // of a broadcast or a presence, in kB
	MaxClientKBPerSecond       int  // of one client's broadcasts, counted for each receiver, in kB

	// A channel may send ClientPresenceEvents presence messages within ClientPresenceWindow.
	ClientPresenceEvents int
	ClientPresenceWindow time.Duration

	PrivateOnly     bool // refuse public channels
	PresenceEnabled bool // send presence also to clients that do not ask for it
	Suspended       bool // refuse everything
}

// Defaults returns upstream's defaults.
func Defaults() Settings {
	return Settings{
		MaxConnections: 200, MaxConnectionsPerLine: 512, MaxChannelsPerClient: 100, MaxJoinsPerSecond: 100, MaxEventsPerSecond: 100,
		MaxPresenceEventsPerSecond: 1000, MaxPayloadKB: 3000,
		MaxClientKBPerSecond: 10_000, ClientPresenceEvents: 5, ClientPresenceWindow: 30 * time.Second,
	}
}

func (s Settings) withDefaults() Settings {
	d := Defaults()
	for _, f := range []struct {
		to  *int
		def int
	}{
		{&s.MaxConnections, d.MaxConnections}, {&s.MaxConnectionsPerLine, d.MaxConnectionsPerLine},
		{&s.MaxChannelsPerClient, d.MaxChannelsPerClient},
		{&s.MaxJoinsPerSecond, d.MaxJoinsPerSecond}, {&s.MaxEventsPerSecond, d.MaxEventsPerSecond},
		{&s.MaxPresenceEventsPerSecond, d.MaxPresenceEventsPerSecond}, {&s.MaxPayloadKB, d.MaxPayloadKB},
		{&s.MaxClientKBPerSecond, d.MaxClientKBPerSecond},
		{&s.ClientPresenceEvents, d.ClientPresenceEvents},
	} {
		if *f.to <= 0 {
			*f.to = f.def
		}
	}
	if s.ClientPresenceWindow <= 0 {
		s.ClientPresenceWindow = d.ClientPresenceWindow
	}
	return s
}

// payloadPadding is added to the limit of payloads, as upstream does. Unit: bytes.
const payloadPadding = 500

// fits reports whether a payload of size bytes is within the limit.
func (s *Settings) fits(size int) bool { return size <= s.MaxPayloadKB*1000+payloadPadding }
