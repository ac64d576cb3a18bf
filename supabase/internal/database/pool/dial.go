package pool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Timeouts that detect a host that has become unreachable without closing its connections. Without
// them a statement would wait until its caller's deadline, and a listener forever.
const (
	keepAliveIdle     = 5 * time.Second // silence before the first keep-alive probe
	keepAliveInterval = 2 * time.Second
	keepAliveCount    = 3
	userTimeout       = 10 * time.Second // for the acknowledgement of sent bytes (TCP_USER_TIMEOUT)
	pingTimeout       = 3 * time.Second  // for the check of a connection that leaves the pool
)

// dialTimeout returns the timeout for one address when the URL has no connect_timeout. It is
// shorter with several hosts, so that a dead one delays the next less.
func dialTimeout(hosts int) time.Duration {
	if hosts > 1 {
		return 2 * time.Second
	}
	return 5 * time.Second
}

// Connect opens a connection outside of a pool, for tasks that keep it, such as LISTEN and
// migrations.
func Connect(ctx context.Context, url string) (*pgx.Conn, error) {
	return connect(ctx, url, func(*pgx.ConnConfig) {})
}

// ConnectConsole is Connect for statements of a person: notice gets the notices of the server, and
// the end of ctx cancels the running statement.
func ConnectConsole(ctx context.Context, url string, notice func(*pgconn.Notice)) (*pgx.Conn, error) {
	return connect(ctx, url, func(c *pgx.ConnConfig) {
		c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notice(n) }
		c.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
			return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: time.Second}
		}
	})
}

// connect opens a connection after change has changed its settings.
func connect(ctx context.Context, url string, change func(*pgx.ConnConfig)) (*pgx.Conn, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	setDialing(c)
	dropUnusedCache(c)
	change(c)
	conn, err := pgx.ConnectConfig(ctx, c)
	return conn, explainConnect(c, err)
}

// WithConn calls fn with a connection outside of a pool and closes it.
func WithConn(ctx context.Context, url string, fn func(*pgx.Conn) error) error {
	conn, err := Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	return errors.Join(fn(conn), conn.Close(context.WithoutCancel(ctx)))
}

// dropUnusedCache keeps a connection from allocating the cache of descriptions, 40 kB, which only
// one mode of execution uses.
func dropUnusedCache(c *pgx.ConnConfig) {
	if c.DefaultQueryExecMode != pgx.QueryExecModeCacheDescribe {
		c.DescriptionCacheCapacity = 0
	}
}

// setDialing sets the timeouts that detect an unreachable host.
func setDialing(c *pgx.ConnConfig) {
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = dialTimeout(1 + len(otherHosts(c)))
	}
	dialer := &net.Dialer{
		Timeout: c.ConnectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval,
			Count: keepAliveCount},
		Control: setUserTimeout,
	}
	c.DialFunc = dialer.DialContext
}

// setHosts makes a pool try the host of its last connection first.
func setHosts(pc *pgxpool.Config) {
	c := pc.ConnConfig
	if len(otherHosts(c)) == 0 {
		return
	}
	// A connection has its host's address, the URL its name.
	var names sync.Map
	lookup := c.LookupFunc
	c.LookupFunc = func(ctx context.Context, host string) ([]string, error) {
		addresses, err := lookup(ctx, host)
		for _, a := range addresses {
			names.Store(a, host)
		}
		return addresses, err
	}
	var last atomic.Pointer[pgconn.FallbackConfig]
	pc.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		if h := last.Load(); h != nil {
			tryFirst(c, h.Host, h.Port)
		}
		return nil
	}
	c.AfterConnect = func(_ context.Context, conn *pgconn.PgConn) error {
		if address, ok := conn.Conn().RemoteAddr().(*net.TCPAddr); ok {
			if host, ok := names.Load(address.IP.String()); ok {
				last.Store(&pgconn.FallbackConfig{Host: host.(string), Port: uint16(address.Port)})
			}
		}
		return nil
	}
}

// otherHosts returns the hosts of a URL after the first. pgx repeats the first host in Fallbacks if
// TLS is optional.
func otherHosts(c *pgx.ConnConfig) []*pgconn.FallbackConfig {
	return slices.DeleteFunc(slices.Clone(c.Fallbacks), func(f *pgconn.FallbackConfig) bool {
		return f.Host == c.Host && f.Port == c.Port
	})
}

// tryFirst moves the entries of one address to the front and keeps the order of the others.
func tryFirst(c *pgx.ConnConfig, host string, port uint16) {
	all := append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
	slices.SortStableFunc(all, func(a, b *pgconn.FallbackConfig) int {
		return order(a.Host == host && a.Port == port) - order(b.Host == host && b.Port == port)
	})
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = all[0].Host, all[0].Port, all[0].TLSConfig, all[1:]
}

func order(first bool) int {
	if first {
		return 0
	}
	return 1
}

// ConnectReplication opens a connection for logical replication. Its role needs the attribute
// REPLICATION. Values are sent in forms that do not depend on the settings of the server, the
// database or the role.
func ConnectReplication(ctx context.Context, url, applicationName string) (*pgx.Conn, error) {
	return connect(ctx, url, func(c *pgx.ConnConfig) {
		maps.Copy(c.RuntimeParams, map[string]string{
			"replication": "database", "application_name": applicationName, "client_encoding": "UTF8",
			"DateStyle": "ISO, YMD", "TimeZone": "UTC", "IntervalStyle": "postgres", "extra_float_digits": "1",
			"bytea_output": "hex",
		})
		c.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // a replication connection knows no other
	})
}
