package db

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A host that is cut off sends nothing, not even that a connection has ended. Without these times a statement would wait
// for it as long as its caller does, and a listener for ever.
const (
	silence        = 5 * time.Second // until a silent host is asked whether it is there
	askAgain       = 2 * time.Second
	asks           = 3
	unacknowledged = 10 * time.Second // until sent bytes that nobody confirms end the connection
	pingTimeout    = 3 * time.Second  // of a connection that is taken out of the pool
)

// dialTimeout is for one address. A URL may set connect_timeout instead; of several hosts, one that is off must not hold
// up the others for long.
func dialTimeout(hosts int) time.Duration {
	if hosts > 1 {
		return 2 * time.Second
	}
	return 5 * time.Second
}

// Connect opens one connection outside of a pool, for work that keeps it: listening, migrating.
func Connect(ctx context.Context, url string) (*pgx.Conn, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	setDialing(c)
	return pgx.ConnectConfig(ctx, c)
}

// setDialing lets connections notice that their host is gone.
func setDialing(c *pgx.ConnConfig) {
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = dialTimeout(1 + len(others(c)))
	}
	dialer := &net.Dialer{
		Timeout:         c.ConnectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence, Interval: askAgain, Count: asks},
		Control:         giveUp,
	}
	c.DialFunc = dialer.DialContext
}

// setHosts lets a pool try the host that served last before its neighbours.
func setHosts(pc *pgxpool.Config) {
	c := pc.ConnConfig
	if len(others(c)) == 0 {
		return
	}
	// Connections know the address that they reached, URLs the name of its host.
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
	pc.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		if address, ok := conn.PgConn().Conn().RemoteAddr().(*net.TCPAddr); ok {
			if host, ok := names.Load(address.IP.String()); ok {
				last.Store(&pgconn.FallbackConfig{Host: host.(string), Port: uint16(address.Port)})
			}
		}
		return nil
	}
}

// others are the further hosts of a URL; pgx lists the first one among them, too, when it may be tried without TLS.
func others(c *pgx.ConnConfig) []*pgconn.FallbackConfig {
	return slices.DeleteFunc(slices.Clone(c.Fallbacks), func(f *pgconn.FallbackConfig) bool {
		return f.Host == c.Host && f.Port == c.Port
	})
}

// tryFirst moves the places of one address to the front and leaves the order otherwise as the URL has it.
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
