package pgrst

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/rest"
)

// admin answers /live, /ready, /schema_cache and /metrics.
type admin struct {
	engine *rest.Engine
	pool   *pool.Pool
	socket string      // path of the main socket; "" for a port
	open   atomic.Bool // whether the main socket is open
}

// live reports whether the main server can get requests: its socket is open and its file exists.
func (a *admin) live() bool {
	if !a.open.Load() {
		return false
	}
	if a.socket == "" {
		return true
	}
	_, err := os.Stat(a.socket)
	return err == nil
}

func (a *admin) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(a)
	mux := http.NewServeMux()
	mux.HandleFunc("/live", func(w http.ResponseWriter, r *http.Request) {
		if !a.live() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("/ready", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case a.engine.Schema() == nil, a.engine.Loading(), !a.engine.Reachable(r.Context()):
			w.WriteHeader(http.StatusServiceUnavailable)
		case !a.live():
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("/schema_cache", func(w http.ResponseWriter, r *http.Request) {
		if c := a.engine.Schema(); c != nil {
			_ = json.NewEncoder(w).Encode(c) // the client may have disconnected
		}
	})
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{DisableCompression: true})
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, r *http.Request) {
		text := &metricsText{ResponseWriter: w}
		metrics.ServeHTTP(text, r)
		text.send()
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNotFound) })
	return mux
}

// wholeNumber matches a metric whose value has no decimal point.
var wholeNumber = regexp.MustCompile(`(?m)^([^#\n].* [0-9]+)$`)

// metricsText is a ResponseWriter that sends metrics with PostgREST's Content-Type and numbers:
// 1.0, not 1.
type metricsText struct {
	http.ResponseWriter
	body   bytes.Buffer
	status int
}

func (w *metricsText) Write(b []byte) (int, error) { return w.body.Write(b) }

func (w *metricsText) WriteHeader(status int) { w.status = status }

func (w *metricsText) send() {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.ResponseWriter.WriteHeader(cmp.Or(w.status, http.StatusOK))
	// the client may have disconnected
	_, _ = w.ResponseWriter.Write(wholeNumber.ReplaceAll(w.body.Bytes(), []byte("$1.0")))
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe declares no metrics, so the collector is unchecked.
func (a *admin) Describe(chan<- *prometheus.Desc) {}

// Collect sends the counters of the engine and the pool under PostgREST's names.
func (a *admin) Collect(out chan<- prometheus.Metric) {
	s, p := a.engine.Stats(), a.pool.Pgx().Stat()
	gauge := func(name, help string, v float64) {
		out <- prometheus.MustNewConstMetric(describe(name, help), prometheus.GaugeValue, v)
	}
	counter := func(name, help string, v int64) {
		out <- prometheus.MustNewConstMetric(describe(name, help), prometheus.CounterValue, float64(v))
	}
	gauge("pgrst_db_pool_max", "Max pool connections", float64(p.MaxConns()))
	gauge("pgrst_db_pool_available", "Available connections in the pool", float64(p.IdleConns()))
	gauge("pgrst_db_pool_waiting", "Requests waiting to acquire a pool connection", float64(a.pool.Waiting()))
	counter("pgrst_db_pool_timeouts_total", "The total number of pool connection timeouts", a.pool.Timeouts())
	loads := describe("pgrst_schema_cache_loads_total", "The total number of times the schema cache was loaded",
		"status")
	out <- prometheus.MustNewConstMetric(loads, prometheus.CounterValue, float64(s.Loads), "SUCCESS")
	out <- prometheus.MustNewConstMetric(loads, prometheus.CounterValue, float64(s.FailedLoads), "FAIL")
	gauge("pgrst_schema_cache_query_time_seconds", "The query time in seconds of the last schema cache load",
		s.LoadTime.Seconds())
	counter("pgrst_jwt_cache_requests_total", "The total number of JWT cache lookups", s.TokenLookups)
	counter("pgrst_jwt_cache_hits_total", "The total number of JWT cache hits", s.TokenHits)
	counter("pgrst_jwt_cache_evictions_total", "The total number of JWT cache evictions", s.TokensEvicted)
}
