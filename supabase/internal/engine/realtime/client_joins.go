package realtime

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"daawo/supabase/internal/base/network"
)

// joinShare is the part of the joins of all clients that one client may make over time. At once it
// may make as many as all clients in a second.
const joinShare = 5

// clientJoins limits the joins of each client and of its networks, so that one client cannot use up
// the joins of all.
type clientJoins struct {
	mu      sync.Mutex
	buckets map[string]*joinBucket
}

// joinBucket is a leaky bucket of joins.
type joinBucket struct {
	level float64
	at    time.Time
}

// allow counts a join. It returns false if a network of the client makes too many. perSecond is the
// limit of all clients together.
func (j *clientJoins) allow(client []network.Part, perSecond int, now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.buckets == nil {
		j.buckets = map[string]*joinBucket{}
	}
	for _, part := range client {
		most := float64(perSecond * part.Share)
		b := j.buckets[part.Key]
		if b == nil {
			b = &joinBucket{at: now}
			j.buckets[part.Key] = b
		}
		b.level = max(0, b.level-now.Sub(b.at).Seconds()*most/joinShare)
		b.at = now
		if b.level+1 > most {
			return false
		}
		b.level++
	}
	return true
}

// sweep forgets the clients whose buckets are empty by now.
func (j *clientJoins) sweep(now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for key, b := range j.buckets {
		if now.Sub(b.at) > joinShare*time.Second {
			delete(j.buckets, key)
		}
	}
}

// networksOf returns the networks of a client by the header of the gateway, nil for programs of
// this machine and without the header.
func networksOf(r *http.Request) []network.Part {
	client := r.Header.Get("X-Forwarded-For")
	if a, err := netip.ParseAddr(client); err != nil || a.IsLoopback() {
		return nil
	}
	return network.Of(client)
}
