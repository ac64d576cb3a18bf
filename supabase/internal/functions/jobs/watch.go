package jobs

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// failures logs failed jobs. It never logs their arguments, which may contain the text of a mail.
type failures struct{ log *slog.Logger }

func (f failures) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	f.report(ctx, job, "error", err.Error())
	return nil
}

func (f failures) HandlePanic(ctx context.Context, job *rivertype.JobRow, value any,
	trace string) *river.ErrorHandlerResult {
	f.report(ctx, job, "panic", value, "stack", trace)
	return nil
}

func (f failures) report(ctx context.Context, job *rivertype.JobRow, attrs ...any) {
	attrs = append(attrs, "kind", job.Kind, "job", job.ID, "attempt", job.Attempt)
	if job.Attempt >= job.MaxAttempts {
		f.log.ErrorContext(ctx, "background job discarded after its last attempt", attrs...)
		return
	}
	f.log.WarnContext(ctx, "background job failed, will be retried", attrs...)
}

// quiet passes on warnings and errors only. While a client stops, it drops those about interrupted
// work.
type quiet struct {
	slog.Handler
	stopping func() bool
}

// Enabled is part of slog.Handler.
func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}

// Handle is part of slog.Handler.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if q.stopping() && isCanceled(r) {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

// isCanceled reports whether a record is about a cancelled context. River logs the texts of errors,
// not the errors.
func isCanceled(r slog.Record) (yes bool) {
	r.Attrs(func(a slog.Attr) bool {
		yes = yes || strings.Contains(a.Value.String(), context.Canceled.Error())
		return !yes
	})
	return yes
}

// WithAttrs is part of slog.Handler.
func (q quiet) WithAttrs(a []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(a), q.stopping}
}

// WithGroup is part of slog.Handler.
func (q quiet) WithGroup(n string) slog.Handler { return quiet{q.Handler.WithGroup(n), q.stopping} }

// metrics reads the state of the queues at each scrape.
type metrics struct {
	outbox        *Outbox
	depth, oldest *prometheus.Desc
}

func newMetrics(b *Outbox) *metrics {
	return &metrics{
		outbox: b,
		depth: prometheus.NewDesc("daawo_outbox_jobs",
			"Background jobs by kind and state. A discarded job needs an operator.", []string{"kind", "state"}, nil),
		oldest: prometheus.NewDesc("daawo_outbox_oldest_pending_seconds",
			"Age of the oldest pending job.", nil, nil),
	}
}

// Describe is part of prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.depth
	ch <- m.oldest
}

// Collect is part of prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	const q = `
select kind, state::text, count(*), coalesce(extract(epoch from now() - min(created_at)), 0)::float8
  from river.river_job
 where state not in ('completed', 'cancelled')
 group by 1, 2`
	rows, err := m.outbox.DB.Pgx().Query(ctx, q)
	if err != nil {
		return // the health check of the database reports it
	}
	defer rows.Close()
	var oldest float64
	for rows.Next() {
		var kind, state string
		var n int64
		var age float64
		if rows.Scan(&kind, &state, &n, &age) != nil {
			return
		}
		ch <- prometheus.MustNewConstMetric(m.depth, prometheus.GaugeValue, float64(n), kind, state)
		if state != "discarded" {
			oldest = max(oldest, age)
		}
	}
	ch <- prometheus.MustNewConstMetric(m.oldest, prometheus.GaugeValue, oldest)
}
