package app

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// functionMeter implements host.Meter for Prometheus. It is not in package host because a process
// of functions has no metrics: its parent counts its calls.
type functionMeter struct {
	registry prometheus.Registerer
	duration *prometheus.HistogramVec
	refusals *prometheus.CounterVec
}

// newFunctionMeter returns a meter whose metrics are in a registry.
func newFunctionMeter(registry prometheus.Registerer) *functionMeter {
	m := &functionMeter{
		registry: registry,
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
	registry.MustRegister(m.duration, m.refusals)
	return m
}

// Called counts a call.
func (m *functionMeter) Called(function string, status int, took time.Duration) {
	m.duration.WithLabelValues(function, strconv.Itoa(status)).Observe(took.Seconds())
}

// Refused counts a call that was refused because the function was busy.
func (m *functionMeter) Refused(function string) { m.refusals.WithLabelValues(function).Inc() }

// Deployed adds the metric of the memory of the deployed functions' process, in bytes.
func (m *functionMeter) Deployed(memory func() int64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "daawo_functions_memory_bytes",
		Help: "Resident memory of the process of the deployed functions; 0 without one.",
	}, func() float64 { return float64(memory()) }))
}
