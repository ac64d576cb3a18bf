package rest

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/engine/rest/schema"
)

// loader keeps the schema of an engine up to date.
type loader struct {
	engine    *Engine
	configure func(context.Context) (Config, error)
	config    atomic.Bool // the next reload includes the configuration
	requested chan struct{}
	listening chan struct{} // closed after the first attempt to listen
	rechannel chan struct{} // the channel to listen to has changed
	connected atomic.Bool   // the listener has a connection
	cancel    context.CancelFunc
	done      sync.WaitGroup
	delay     atomic.Int64 // the delay before the next attempt, in seconds
}

// maxDelay bounds the delay between attempts to reach the database.
const maxDelay = 32 * time.Second

func (l *loader) init(e *Engine, configure func(context.Context) (Config, error)) {
	l.engine, l.configure, l.requested, l.listening = e, configure, make(chan struct{}, 1), make(chan struct{})
	l.rechannel = make(chan struct{}, 1)
}

// request makes work reload the schema, and the configuration too if config is true.
func (l *loader) request(config bool) {
	if config {
		l.config.Store(true)
	}
	select {
	case l.requested <- struct{}{}:
	default: // a reload is already requested; it will see this change too
	}
}

func (l *loader) retryAfter() string { return strconv.FormatInt(l.delay.Load(), 10) }

func (l *loader) start(ctx context.Context) error {
	ctx, l.cancel = context.WithCancel(ctx)
	// Listen before loading: then no change in between is missed.
	l.done.Go(func() { l.listen(ctx) })
	<-l.listening
	err := l.engine.load(ctx)
	if err != nil {
		l.engine.failed(err)
		l.request(true) // the configuration in the database may be as unread as the schema
	}
	l.done.Go(func() { l.work(ctx) })
	return err
}

func (l *loader) stop(ctx context.Context) error {
	if l.cancel == nil {
		return nil
	}
	l.cancel()
	stopped := make(chan struct{})
	go func() { l.done.Wait(); close(stopped) }()
	select {
	case <-stopped:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work loads the schema on each request. After a failure it tries again with growing delays until a
// load succeeds.
func (l *loader) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.requested:
		}
		l.reconfigure(ctx)
		for delay := time.Second; ; delay = min(2*delay, maxDelay) {
			err := l.engine.load(ctx)
			if err == nil || ctx.Err() != nil {
				break
			}
			l.engine.failed(err)
			l.delay.Store(int64(delay / time.Second))
			l.engine.log.WarnContext(ctx, "rest: schema load failed; retrying", "error", err, "retry_in", delay,
				"schemas", l.engine.Config().Schemas, "search_path", l.engine.Config().ExtraSearchPath)
			if !sleep(ctx, delay) {
				return
			}
		}
		l.delay.Store(0)
	}
}

// reconfigure reloads the configuration if that was requested. After an error the old one stays in
// use.
func (l *loader) reconfigure(ctx context.Context) {
	if l.configure == nil || !l.config.Swap(false) {
		return
	}
	c, err := l.configure(ctx)
	if err != nil {
		l.engine.log.ErrorContext(ctx, "rest: configuration load failed; keeping the old one", "error", err)
		return
	}
	changed := c.Channel != l.engine.Config().Channel
	l.engine.replaceConfig(c)
	l.engine.log.InfoContext(ctx, "rest: configuration loaded")
	if changed {
		select {
		case l.rechannel <- struct{}{}:
		default: // listen has not seen the previous change yet; it will see this one too
		}
	}
}

// sleep waits for d and returns true, or false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// load reads the schema and the settings of roles and replaces the old ones.
func (e *Engine) load(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			e.counts.failedLoads.Add(1)
		} else {
			e.counts.loads.Add(1)
		}
	}()
	begun := e.now()
	c := e.Config()
	conn, err := e.pool.Pgx().Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_ = conn.Conn().Close(ctx) // its backend now caches the whole catalogue, about 6 MB of memory
		conn.Release()
	}()
	roles, err := loadRoles(ctx, conn)
	if err != nil {
		return err
	}
	cache, err := schema.Load(ctx, conn,
		schema.Source{Schemas: c.Schemas, ExtraSearchPath: c.ExtraSearchPath, MustExist: c.CheckSchemas,
			HoistedSettings: c.HoistedSettings, Delay: c.LoadDelay})
	if err != nil {
		return err
	}
	e.replaceSchema(cache, roles)
	// New connections see changed settings of the login role and do not hold the old catalogue in
	// their caches. A connection in use closes when its request is done.
	e.pool.Pgx().Reset()
	duration := e.now().Sub(begun)
	e.counts.loadTime.Store(int64(duration))
	e.log.InfoContext(ctx, "rest: schema loaded", "schema", cache.String(), "duration", duration)
	return nil
}

// rolesSQL selects the settings of the roles that the login role is a member of, as far as the
// login role may set them.
const rolesSQL = `
select r.rolname, split_part(s, '=', 1), substr(s, strpos(s, '=') + 1)
  from pg_auth_members m
  join pg_roles r on r.oid = m.roleid
  cross join unnest(r.rolconfig) s
  join pg_settings ps on ps.name = split_part(s, '=', 1)
 where m.member = (select oid from pg_roles where rolname = current_user)
   and (ps.context = 'user'
     or current_setting('server_version_num')::int >= 150000 and has_parameter_privilege(current_user, ps.name, 'set'))
 order by 1, 2`

func loadRoles(ctx context.Context, conn interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}) (map[string]roleSettings, error) {
	rows, err := conn.Query(ctx, rolesSQL)
	if err != nil {
		return nil, err
	}
	out := map[string]roleSettings{}
	var role, name, value string
	_, err = pgx.ForEachRow(rows, []any{&role, &name, &value}, func() error {
		r := out[role]
		if name == "default_transaction_isolation" {
			r.isolation = value
		} else {
			r.settings = append(r.settings, [2]string{name, value})
		}
		out[role] = r
		return nil
	})
	return out, err
}

// listen waits for notify pgrst, 'reload schema' (or 'reload config', or an empty payload, which
// means both).
func (l *loader) listen(ctx context.Context) {
	once := sync.OnceFunc(func() { close(l.listening) })
	defer once()
	listening := once
	for delay := time.Second; ctx.Err() == nil; delay = min(2*delay, maxDelay) {
		channel := l.engine.Config().Channel
		if channel == "" {
			once()
			select {
			case <-l.rechannel:
			case <-ctx.Done():
			}
			delay = time.Second / 2
			continue
		}
		began := time.Now()
		changed, err := l.listenUntilChange(ctx, channel, listening)
		once()
		listening = func() { l.request(true) } // a notification may have been missed while not listening
		if ctx.Err() != nil {
			return
		}
		if changed {
			delay = time.Second / 2
			continue
		}
		if time.Since(began) > maxDelay {
			delay = time.Second
		}
		l.engine.failed(err)
		l.engine.log.WarnContext(ctx, "rest: listen connection lost; reconnecting", "channel", channel, "error", err,
			"retry_in", delay)
		if !sleep(ctx, delay) {
			return
		}
	}
}

// listenUntilChange listens until an error occurs or the channel of the configuration changes.
func (l *loader) listenUntilChange(ctx context.Context, channel string, listening func()) (changed bool, err error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- l.listenOnce(inner, channel, listening) }()
	select {
	case err := <-ended:
		return false, err
	case <-l.rechannel:
		cancel()
		<-ended
		return true, nil
	}
}

func (l *loader) listenOnce(ctx context.Context, channel string, listening func()) error {
	conn, err := l.engine.pool.ConnectPrimary(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return err
	}
	l.connected.Store(true)
	defer l.connected.Store(false)
	listening()
	l.engine.log.InfoContext(ctx, "rest: listening for notifications", "channel", channel, "host", conn.Config().Host,
		"port", conn.Config().Port, "server_version", conn.PgConn().ParameterStatus("server_version"))
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		l.engine.log.InfoContext(ctx, "rest: notification", "channel", channel, "payload", n.Payload)
		switch n.Payload {
		case "", "reload config":
			l.request(true)
		case "reload schema":
			l.request(false)
		}
	}
}
