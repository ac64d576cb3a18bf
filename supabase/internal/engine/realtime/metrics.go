package realtime

import "github.com/prometheus/client_golang/prometheus"

// metrics is a prometheus.Collector of an Engine.
type metrics struct {
	channels                                     prometheus.Gauge
	received, sent, refused, slow, busErrors     prometheus.Counter
	changes                                      prometheus.Counter
	connections, presences, lag, replicationLive prometheus.GaugeFunc
	busConnected                                 prometheus.GaugeFunc
}

func newMetrics(e *Engine) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "daawo_realtime_" + name, Help: help})
	}
	gauge := func(name, help string, value func() float64) prometheus.GaugeFunc {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "daawo_realtime_" + name, Help: help}, value)
	}
	return &metrics{
		channels: prometheus.NewGauge(prometheus.GaugeOpts{Name: "daawo_realtime_channels",
			Help: "Joined channels."}),
		received:    counter("messages_received_total", "Messages of clients."),
		sent:        counter("messages_sent_total", "Messages to clients."),
		refused:     counter("refused_total", "Handshakes and joins that got an error."),
		slow:        counter("slow_clients_total", "Clients that were cut off because they read or wait too slowly."),
		busErrors:   counter("bus_errors_total", "Broadcasts that did not reach the other replicas."),
		changes:     counter("changes_sent_total", "Changes of rows to clients."),
		connections: gauge("connections", "Open sockets.", func() float64 { return float64(e.connectionCount()) }),
		presences: gauge("presences", "Presences on all replicas.",
			func() float64 { return float64(e.presence.Members()) }),
		lag: gauge("replication_lag_bytes", "Bytes of the write-ahead log that are not read yet.", func() float64 {
			if e.o.Changes == nil {
				return 0
			}
			bytes, _ := e.o.Changes.Lag()
			return float64(bytes)
		}),
		replicationLive: gauge("replication_connected", "1 if changes of the database arrive.", func() float64 {
			if e.o.Changes == nil || e.o.Changes.Ready() != nil {
				return 0
			}
			return 1
		}),
		busConnected: gauge("bus_connected", "1 if broadcasts and presences reach the other replicas.", func() float64 {
			if !e.busConnected() {
				return 0
			}
			return 1
		}),
	}
}

func (m *metrics) each() []prometheus.Collector {
	return []prometheus.Collector{
		m.channels, m.received, m.sent, m.refused, m.slow, m.busErrors, m.changes, m.connections, m.presences, m.lag,
		m.replicationLive, m.busConnected,
	}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.each() {
		c.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.each() {
		c.Collect(to)
	}
}
