package changes

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are about the delivery of changes.
type metrics struct {
	latency prometheus.Histogram
	losses  *prometheus.CounterVec
}

// newMetrics returns the metrics of a stream. registerer may be nil.
func newMetrics(s *Stream, registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "daawo_realtime_change_seconds",
			Help:    "Time from the commit of a change, by the clock of the database, until its last socket has it.",
			Buckets: []float64{.002, .005, .01, .02, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}}),
		losses: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "daawo_realtime_changes_lost_total",
			Help: "Times that subscribers were told to read a table again, by reason."}, []string{"reason"}),
	}
	for _, reason := range lossReasons {
		m.losses.WithLabelValues(reason)
	}
	if registerer == nil {
		return m, nil
	}
	lanes := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "daawo_realtime_lanes_waiting",
		Help: "Pairs of a table and a user whose changes wait for a slow or failing policy or filter."},
		func() float64 { return float64(s.lanes.waiting()) })
	for _, c := range []prometheus.Collector{m.latency, m.losses, lanes} {
		if err := registerer.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// delivered observes a change that its subscribers have got.
func (m *metrics) delivered(committed, now time.Time) {
	m.latency.Observe(max(0, now.Sub(committed).Seconds()))
}
