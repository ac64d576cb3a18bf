package pgrst

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/rest"
)

// journal writes the log in PostgREST's form: requests as Apache's access log to out, everything
// else to diagnostics as lines that begin with the time. It is a slog.Handler for the messages of
// the engine and the server. The access log has no addresses of clients.
type journal struct {
	out, diagnostics io.Writer
	level            func() string // log-level, which a reload may change

	mu       sync.Mutex
	timeouts int  // time-outs of the pool since the last line about one
	waiting  bool // no line about a time-out may be written now
}

// timeoutInterval is the least time between two lines about time-outs of the pool.
const timeoutInterval = 5 * time.Second

func now() string { return time.Now().Format("02/Jan/2006:15:04:05 -0700") }

// write writes one line of diagnostics.
func (j *journal) write(text string) {
	// a log that is full or closed stops no request
	_, _ = io.WriteString(j.diagnostics, now()+": "+strings.ReplaceAll(text, "\n", " ")+"\n")
}

// request logs a request by log-level.
func (j *journal) request(r *http.Request, report *rest.Report) {
	least := leastStatus(j.level())
	if report.Status >= least {
		for _, q := range report.Queries {
			j.write(q)
		}
	}
	if len(report.Legacy) > 0 {
		j.write("WARNING: Embedded resource was referenced by relation name even though it has an alias. " +
			"This is deprecated and will stop working in a future release.")
		j.write("Update filters, orders or limits that use " + rest.LegacyHint(report.Legacy) + " in `" + r.Method +
			" " + r.RequestURI + "`")
	}
	if e := report.Err; e != nil && e.Status >= http.StatusInternalServerError &&
		least <= http.StatusInternalServerError {
		j.failure(e)
	}
	if report.Status < least {
		return
	}
	role, length := report.Role, fmt.Sprint(report.Length)
	if role == "" {
		role = "-"
	}
	if r.Method == http.MethodHead {
		length = "-"
	}
	_, _ = fmt.Fprintf(j.out, "- - %s [%s] \"%s %s %s\" %d %s \"%s\" \"%s\"\n", quoted(role), now(), r.Method,
		quoted(r.RequestURI), r.Proto, report.Status, length, quoted(r.Referer()), quoted(r.UserAgent()))
}

// quoted makes text of a client safe inside the quotes of a log line.
func quoted(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	return strings.ReplaceAll(s, `"`, `\"`)
}

// failure logs an error of the database. It writes a line about a time-out of the pool at once, and
// one more about all that follow within timeoutInterval.
func (j *journal) failure(e *apierror.Error) {
	var pg *pgconn.PgError
	switch {
	case e.Code == "PGRST003":
		j.timeout(string(rest.ErrorBody(e, false)))
	case errors.As(e.Err, &pg), strings.HasPrefix(e.Code, "PGRST00"), e.Code == "PGRSTX00":
		j.write(string(rest.ErrorBody(e, false)))
	}
}

func (j *journal) timeout(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiting {
		j.timeouts++
		return
	}
	j.waiting = true
	j.write(text)
	time.AfterFunc(timeoutInterval, func() {
		j.mu.Lock()
		again := j.timeouts > 0
		j.timeouts, j.waiting = 0, false
		j.mu.Unlock()
		if again {
			j.timeout(text)
		}
	})
}

// Enabled reports whether the level is logged: messages for developers only at log-level debug.
func (j *journal) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || j.level() == "debug"
}

// WithAttrs returns j: the messages have all their attributes themselves.
func (j *journal) WithAttrs([]slog.Attr) slog.Handler { return j }

// WithGroup returns j.
func (j *journal) WithGroup(string) slog.Handler { return j }

// Handle writes a message in PostgREST's words if it has any for it.
func (j *journal) Handle(_ context.Context, record slog.Record) error {
	attrs := map[string]slog.Value{}
	var plain strings.Builder
	plain.WriteString(strings.TrimPrefix(record.Message, "rest: "))
	record.Attrs(func(a slog.Attr) bool {
		attrs[a.Key] = a.Value
		fmt.Fprintf(&plain, " %s=%v", a.Key, a.Value)
		return true
	})
	lines := translate(record.Message, attrs)
	if lines == nil {
		lines = []string{plain.String()}
	}
	for _, l := range lines {
		j.write(l)
	}
	return nil
}

// translate returns PostgREST's lines for a message of the engine or the server; nil if it has
// none.
func translate(message string, attrs map[string]slog.Value) []string {
	text := func(name string) string { return attrs[name].String() }
	channel := fmt.Sprintf("%q channel", text("channel"))
	cause, _ := attrs["error"].Any().(error)
	delay, _ := attrs["retry_in"].Any().(time.Duration)
	retry := fmt.Sprintf("%d seconds...", int(delay.Seconds()))
	switch message {
	case "rest: schema loaded":
		ms := float64(attrs["duration"].Duration().Microseconds()) / 1000
		return []string{fmt.Sprintf("Schema cache queried in %.1f milliseconds", ms), "Schema cache loaded " +
			text("schema")}
	case "rest: schema load failed; retrying":
		return []string{"Failed to load the schema cache using db-schemas=" + joined(attrs["schemas"]) +
			" and db-extra-search-path=" +
			joined(attrs["search_path"]) + ". " + failureText(cause), "Attempting to reconnect to the database in " +
			retry}
	case "rest: listening for notifications":
		return []string{"Listener connected to PostgreSQL " +
			text("server_version") + fmt.Sprintf(" on %q", text("host")+":"+text("port")) +
			" and listening for database notifications on the " + channel}
	case "rest: listen connection lost; reconnecting":
		return []string{"Failed listening for database notifications on the " + channel + ". " + connectionText(cause),
			"Retrying listening for database notifications in " + retry}
	case "rest: notification":
		switch text("payload") {
		case "reload config":
			return []string{"Received a config reload message on the " + channel}
		case "", "reload schema":
			return []string{"Received a schema cache reload message on the " + channel}
		}
		return []string{}
	case "rest: configuration loaded":
		return []string{"Config reloaded"}
	case "rest: configuration load failed; keeping the old one":
		return []string{"Failed reloading config: " + cause.Error()}
	case "rest: in-database configuration load failed; ignoring it":
		return []string{"Failed to query database settings for the config parameters. " + failureText(cause)}
	}
	return nil
}

// connectionText returns an error of a connection, in libpq's words if the host has no address.
func connectionText(err error) string {
	var lookup *net.DNSError
	if errors.As(err, &lookup) {
		return fmt.Sprintf("could not translate host name %q to address: %s", lookup.Name, lookup.Err)
	}
	return err.Error()
}

// joined returns a list with commas.
func joined(v slog.Value) string {
	list, _ := v.Any().([]string)
	return strings.Join(list, ",")
}

// failureText returns an error of the database as the JSON of an error reply.
func failureText(err error) string {
	if pg, ok := pool.AsPgError(err); ok {
		return string(rest.ErrorBody(&apierror.Error{Code: pg.Code, Message: pg.Message, Hint: optional(pg.Hint),
			Details: nilIfEmpty(pg.Detail)}, false))
	}
	e := apierror.Errorf(http.StatusServiceUnavailable, "PGRST000", "Database connection error.")
	e.Details = connectionText(err)
	return string(rest.ErrorBody(e, false))
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func nilIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}
