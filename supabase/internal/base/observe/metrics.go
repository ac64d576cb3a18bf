package observe

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts the requests of the gateway and includes the Go runtime's metrics.
type Metrics struct {
	registry *prometheus.Registry
	duration *prometheus.HistogramVec
	inFlight *prometheus.GaugeVec
}

// NewMetrics returns metrics with their own registry, so two stacks in one process do not conflict.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "daawo_http_request_duration_seconds",
			Help:    "Time from the request's headers to the end of the reply, by service and status.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"service", "method", "status"}),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "daawo_http_requests_in_flight",
			Help: "Requests being served, by service.",
		}, []string{"service"}),
	}
	m.registry.MustRegister(m.duration, m.inFlight,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Metrics is a prometheus.Registerer for the metrics of other parts: the database pool, the queue,
// the functions.
var _ prometheus.Registerer = (*Metrics)(nil)

// Register adds a collector.
func (m *Metrics) Register(c prometheus.Collector) error { return m.registry.Register(c) }

// MustRegister adds collectors. It panics if that fails, because that is a programming error.
func (m *Metrics) MustRegister(c ...prometheus.Collector) { m.registry.MustRegister(c...) }

// Unregister removes a collector and reports whether it was registered.
func (m *Metrics) Unregister(c prometheus.Collector) bool { return m.registry.Unregister(c) }

// Begin counts a request of a service as in flight. The returned function ends it with its status.
func (m *Metrics) Begin(service, method string) func(status int) {
	gauge := m.inFlight.WithLabelValues(service)
	gauge.Inc()
	start := time.Now()
	return func(status int) {
		gauge.Dec()
		m.duration.WithLabelValues(service, knownMethod(method),
			strconv.Itoa(status)).Observe(time.Since(start).Seconds())
	}
}

// knownMethod limits the values of the method label.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return method
	}
	return "other"
}

// Handler serves /metrics to loopback, and to any client with the token. Other clients get 404. A
// forwarded request does not count as loopback, and neither does one for another host: a page of
// any origin can make the browser of this machine send such requests (DNS rebinding).
func (m *Metrics) Handler(token string) http.Handler {
	metrics := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want := "Bearer " + token
		bears := token != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte(want)) == 1
		if !bears && (!fromLoopback(r) || token != "") {
			http.NotFound(w, r)
			return
		}
		metrics.ServeHTTP(w, r)
	})
}

func fromLoopback(r *http.Request) bool {
	if r.Header.Get("Forwarded") != "" || r.Header.Get("X-Forwarded-For") != "" {
		return false
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	return isLoopback(host) && isLoopback(hostOf(r))
}

// hostOf returns the host that a request is for, without its port.
func hostOf(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		return host
	}
	return strings.Trim(r.Host, "[]")
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}
