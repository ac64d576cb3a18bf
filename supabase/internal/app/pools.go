package app

import (
	"context"
	"maps"
	"sync"
	"time"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/tracing"
	"daawo/supabase/internal/database/pool"
)

// pools are the connection pools by part.
type pools struct {
	installation.Installation
	traces *tracing.Provider // set it before the first pool is opened

	mu     sync.Mutex
	byPart map[string]*pool.Pool
}

// maxIdle is how long an idle connection stays open. An open connection costs Postgres 2 to 6 MB;
// opening one takes 3 ms.
const maxIdle = time.Minute

// open connects to the database at url. part names the pool in logs and in pg_stat_activity.
func (p *pools) open(ctx context.Context, url, part string, maxConns int32) (*pool.Pool, error) {
	return p.openLimited(ctx, url, part, maxConns, 0)
}

// openLimited opens a pool with a maximum of active callers, see pool.Config.
func (p *pools) openLimited(ctx context.Context, url, part string, maxConns, maxActive int32) (*pool.Pool, error) {
	return p.openConfig(ctx, part, pool.Config{URL: url, MaxConns: maxConns, MaxActive: maxActive})
}

// openConfig opens a pool.
func (p *pools) openConfig(ctx context.Context, part string, c pool.Config) (*pool.Pool, error) {
	c.MaxIdle, c.ApplicationName = maxIdle, "daawo-"+part
	c.Log, c.Tracer = p.Log.With("part", part), p.traces.Statements()
	db, err := pool.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	p.add(part, db)
	p.OnClose(part+" pool", func(context.Context) error { db.Close(); return nil })
	return db, nil
}

func (p *pools) add(part string, db *pool.Pool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byPart == nil {
		p.byPart = map[string]*pool.Pool{}
	}
	p.byPart[part] = db
}

func (p *pools) all() map[string]*pool.Pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.byPart)
}

// closeIdle closes the connections that only the start needed. Each costs Postgres 2 to 5 MB.
func (p *pools) closeIdle(ctx context.Context) {
	for _, pool := range p.all() {
		pool.CloseIdle(ctx)
	}
}

// reset closes the idle connections, whose prepared statements may name types that were dropped.
func (p *pools) reset() {
	for _, pool := range p.all() {
		pool.Pgx().Reset()
	}
}
