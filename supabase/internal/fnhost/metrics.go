package fnhost

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the metrics of all functions.
type metrics struct {
	duration *prometheus.HistogramVec
	refusals *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "daawo_function_duration_seconds",
			Help:    "Time from a function's call to the end of its reply.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 150},
		}, []string{"function", "status"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "daawo_function_refused_total",
			Help: "Calls refused because the function was busy.",
		}, []string{"function"}),
	}
	if r != nil {
		r.MustRegister(m.duration, m.refusals)
	}
	return m
}

func (m *metrics) observe(function string, status int, took time.Duration) {
	m.duration.WithLabelValues(function, strconv.Itoa(status)).Observe(took.Seconds())
}

func (m *metrics) refused(function string) { m.refusals.WithLabelValues(function).Inc() }
