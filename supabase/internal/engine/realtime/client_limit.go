package realtime

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"daawo/supabase/internal/base/network"
)

// burst is how long a client that was quiet may exceed its rate: at once it may use what the rate
// gives in this time.
const burst = 5 * time.Second

// clientLimit limits what each client and its networks use in a time, so that one client cannot use
// up what all share.
type clientLimit struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

// bucket is a leaky bucket.
type bucket struct {
	level float64
	rate  float64 // per second
	at    time.Time
}

func (b *bucket) leak(now time.Time) {
	b.level = max(0, b.level-now.Sub(b.at).Seconds()*b.rate)
	b.at = now
}

// allow is wait for callers that refuse what has to wait.
func (l *clientLimit) allow(client []network.Part, amount, perSecond float64, now time.Time) bool {
	return l.wait(client, amount, perSecond, now) == 0
}

// wait counts amount units. If a network of the client has no room left, it counts nothing and
// returns when there will be room. The last units may exceed the room: their network waits longer.
// perSecond is the rate of one client.
func (l *clientLimit) wait(client []network.Part, amount, perSecond float64, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.buckets == nil {
		l.buckets = map[string]*bucket{}
	}
	for _, part := range client {
		b := l.buckets[part.Key]
		if b == nil {
			b = &bucket{at: now}
			l.buckets[part.Key] = b
		}
		b.rate = perSecond * float64(part.Share)
		b.leak(now)
		if room := b.rate*burst.Seconds() - 1; b.level > room {
			return time.Duration(max((b.level-room)/b.rate, 0.001) * float64(time.Second))
		}
	}
	for _, part := range client {
		l.buckets[part.Key].level += amount
	}
	return 0
}

// sweep forgets the clients whose buckets are empty.
func (l *clientLimit) sweep(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, b := range l.buckets {
		if b.leak(now); b.level == 0 {
			delete(l.buckets, key)
		}
	}
}

// networksOf returns the networks of a client, nil for programs of this machine.
func networksOf(r *http.Request) []network.Part {
	client := clientOf(r)
	if !client.IsValid() {
		return nil
	}
	return network.Of(client.String())
}

// lineOf returns the home line of a client, the zero address for programs of this machine.
func lineOf(r *http.Request) netip.Addr {
	client := clientOf(r)
	if !client.IsValid() {
		return client
	}
	return network.Home(client)
}

// clientOf returns the address of a client by the header of the gateway, the zero address for
// programs of this machine and without the header.
func clientOf(r *http.Request) netip.Addr {
	a, err := netip.ParseAddr(r.Header.Get("X-Forwarded-For"))
	if err != nil || a.IsLoopback() {
		return netip.Addr{}
	}
	return a
}
