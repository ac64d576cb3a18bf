package app

import (
	"context"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"daawo/supabase/internal/database/backup/physical"
	"daawo/supabase/internal/database/server"
)

// gauges reads the state of the pools, the disk and the backup at each scrape.
type gauges struct {
	pools  *pools
	data   string
	status *physical.Status // nil without continuous backup
	every  time.Duration    // between two backups

	connections, limit, waiting, timeouts *prometheus.Desc
	free, size, writable                  *prometheus.Desc
	backupAge, backupGood, shippedAge     *prometheus.Desc
}

// openMetrics registers the metrics of the whole stack.
func (s *services) openMetrics(context.Context) error {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("daawo_"+name, help, labels, nil)
	}
	g := &gauges{
		pools: s.pools, data: s.Data,
		connections: desc("database_connections", "Connections to the database, by part and state.", "part", "state"),
		limit:       desc("database_connections_max", "The most connections of a part.", "part"),
		waiting:     desc("database_waiting", "Requests that wait for a connection, by part.", "part"),
		timeouts:    desc("database_timeouts_total", "Requests that got no connection in time, by part.", "part"),
		free:        desc("disk_free_bytes", "Free space of the disk with the data folder."),
		size:        desc("disk_size_bytes", "Size of the disk with the data folder."),
		writable:    desc("disk_writable_bytes", "Free space until the database refuses writes."),
		backupAge:   desc("backup_age_seconds", "Time since the last good backup was complete; +Inf if there is none."),
		backupGood:  desc("backup_good", "1 if there is a good backup that is not too old, else 0."),
		shippedAge: desc("backup_log_age_seconds",
			"Time since the log of the database was stored; +Inf if it never was."),
	}
	if s.Config.Backup.To != "" && s.db.Embedded() {
		g.status, g.every = s.backups.status, time.Duration(s.Config.Backup.Every)
	}
	return s.metrics.Register(g)
}

// Describe is part of prometheus.Collector.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.connections, g.limit, g.waiting, g.timeouts, g.free, g.size, g.writable,
		g.backupAge, g.backupGood, g.shippedAge} {
		ch <- d
	}
}

// Collect is part of prometheus.Collector.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for part, pool := range g.pools.all() {
		stat := pool.Pgx().Stat()
		gauge(g.connections, float64(stat.AcquiredConns()), part, "used")
		gauge(g.connections, float64(stat.IdleConns()), part, "idle")
		gauge(g.limit, float64(stat.MaxConns()), part)
		gauge(g.waiting, float64(pool.Waiting()), part)
		ch <- prometheus.MustNewConstMetric(g.timeouts, prometheus.CounterValue, float64(pool.Timeouts()), part)
	}
	var disk syscall.Statfs_t
	if syscall.Statfs(g.data, &disk) == nil { // a folder that is gone has no figures
		gauge(g.free, float64(disk.Bavail)*float64(disk.Bsize))
		gauge(g.size, float64(disk.Blocks)*float64(disk.Bsize))
	}
	if writable, err := server.WritableSpace(g.data); err == nil {
		gauge(g.writable, float64(writable))
	}
	if g.status == nil {
		return
	}
	now := time.Now()
	if age, ok := g.status.BackupAge(now); ok {
		gauge(g.backupAge, age)
	}
	good := 0.0
	if g.status.Good(now, g.every) {
		good = 1
	}
	gauge(g.backupGood, good)
	gauge(g.shippedAge, g.status.ShippedAge(now))
}
