package pgrst

import (
	"encoding/json"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/rest"
)

// admin answers /live, /ready, /schema_cache and /metrics.
type admin struct {
	engine *rest.Engine
	pool   *db.Pool
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
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, r *http.Request) { metrics.ServeHTTP(plainText{w}, r) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNotFound) })
	return mux
}

// plainText is a ResponseWriter with PostgREST's Content-Type of metrics.
type plainText struct{ http.ResponseWriter }

func (w plainText) Write(b []byte) (int, error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	return w.ResponseWriter.Write(b)
}

func (w plainText) WriteHeader(status int) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.ResponseWriter.WriteHeader(status)
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
	loads := describe("pgrst_schema_cache_loads_total", "The total number of times the schema cache was loaded", "status")
	out <- prometheus.MustNewConstMetric(loads, prometheus.CounterValue, float64(s.Loads), "SUCCESS")
	out <- prometheus.MustNewConstMetric(loads, prometheus.CounterValue, float64(s.FailedLoads), "FAIL")
	gauge("pgrst_schema_cache_query_time_seconds", "The query time in seconds of the last schema cache load", s.LoadTime.Seconds())
	counter("pgrst_jwt_cache_requests_total", "The total number of JWT cache lookups", s.TokenLookups)
	counter("pgrst_jwt_cache_hits_total", "The total number of JWT cache hits", s.TokenHits)
	counter("pgrst_jwt_cache_evictions_total", "The total number of JWT cache evictions", s.TokensEvicted)
}
