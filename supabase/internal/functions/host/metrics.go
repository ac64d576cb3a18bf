package host

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Meter counts the calls of functions. Package app implements it for Prometheus.
type Meter interface {
	Called(function string, status int, took time.Duration)
	Refused(function string) // because the function was busy
	Deployed(memory func() int64)
}

// noMeter is the Meter of a host without one.
type noMeter struct{}

func (noMeter) Called(string, int, time.Duration) {}
func (noMeter) Refused(string)                    {}
func (noMeter) Deployed(func() int64)             {}

// metrics counts the calls of all functions.
type metrics struct {
	meter Meter

	mu    sync.Mutex
	stats map[string]*callStats
}

func newMetrics(m Meter) *metrics {
	if m == nil {
		m = noMeter{}
	}
	return &metrics{meter: m, stats: map[string]*callStats{}}
}

func (m *metrics) observe(function string, status int, took time.Duration) {
	m.meter.Called(function, status, took)
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats[function]
	if s == nil {
		s = &callStats{}
		m.stats[function] = s
	}
	s.add(status, took)
}

func (m *metrics) refused(function string) { m.meter.Refused(function) }

// callStats counts the calls of a function.
type callStats struct {
	calls, errors int
	recent        []time.Duration // of the last recentCalls
}

// recentCalls is the number of calls from which the percentiles are computed.
const recentCalls = 1000

func (s *callStats) add(status int, took time.Duration) {
	if len(s.recent) < recentCalls {
		s.recent = append(s.recent, took)
	} else {
		s.recent[s.calls%recentCalls] = took
	}
	s.calls++
	if status >= http.StatusInternalServerError {
		s.errors++
	}
}

// Stats are the figures of a function since this program started.
type Stats struct {
	Function string        `json:"function"`
	Calls    int           `json:"calls"`
	Errors   int           `json:"errors"` // replies with status 500 and above
	P50      time.Duration `json:"p50"`    // percentiles of the last 1000 calls, in nanoseconds
	P95      time.Duration `json:"p95"`
	P99      time.Duration `json:"p99"`
}

// Stats returns the figures of all functions that were called, ordered by name.
func (h *Host) Stats() []Stats {
	h.metrics.mu.Lock()
	defer h.metrics.mu.Unlock()
	list := []Stats{}
	for _, name := range slices.Sorted(maps.Keys(h.metrics.stats)) {
		s := h.metrics.stats[name]
		sorted := slices.Sorted(slices.Values(s.recent))
		part := func(percent int) time.Duration { return sorted[(len(sorted)-1)*percent/100] }
		list = append(list, Stats{name, s.calls, s.errors, part(50), part(95), part(99)})
	}
	return list
}
