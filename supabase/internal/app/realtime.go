package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/realtime"
	"daawo/supabase/internal/engine/realtime/bus"
	"daawo/supabase/internal/engine/realtime/changes"
	"daawo/supabase/internal/engine/realtime/messages"
)

// realtimeConns is the maximum size of the pool that checks policies and changes. The replication
// connection comes on top. The check of changes uses one at a time, lanes two, replays one.
const realtimeConns = 5

// maintainEvery is how often the partitions of realtime.messages are created and dropped.
const maintainEvery = time.Hour

// openRealtime opens the Realtime engine.
func (s *services) openRealtime(ctx context.Context) error {
	if s.Config.RealtimeURL != "" {
		return upstream(s.Installation, s.Config.RealtimeURL, &s.realtime)
	}
	if !s.Config.Realtime.Enabled {
		return nil
	}
	log := s.Log.With("part", "realtime")
	role := s.db.URL("supabase_realtime_admin")
	pool, err := s.pools.open(ctx, role, "realtime", realtimeConns)
	if err != nil {
		return err
	}
	store := messages.New(messages.Options{Pool: pool, Log: log, Now: s.Now})
	stream, err := changes.Open(changes.Options{Pool: pool, ReplicationURL: role, Log: log, Now: s.Now,
		Registerer: s.metrics, Installation: s.Data, Replaces: s.replaces,
		Unauthorized: s.Config.Realtime.Unauthorized, Lenient: !s.Config.Realtime.Strict})
	if err != nil {
		return err
	}
	o := realtime.Options{
		Verify: s.keys.Verifier().Verify, Settings: realtimeSettings(s.Config.Realtime),
		Changes: stream, Messages: store, Registerer: s.metrics, Log: log, Now: s.Now,
	}
	if s.Config.NATSURL != "" {
		if o.Bus, err = bus.DialNATS(bus.NATSOptions{URL: s.Config.NATSURL, Prefix: "realtime." + s.Config.ProjectID,
			Log: log}); err != nil {
			return err
		}
		s.OnClose("NATS", func(context.Context) error { o.Bus.Close(); return nil })
	}
	engine, err := realtime.New(o)
	if err != nil {
		return err
	}
	stream.OnBroadcast(engine.FromDatabase, engine.Reverify)
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := stream.Run(running); err != nil && !errors.Is(err, context.Canceled) {
			log.Error("changes of the database ended", "error", err)
		}
	})
	wait.Go(func() { maintain(running, store, s) })
	s.OnClose("changes of the database", func(context.Context) error { cancel(); wait.Wait(); return nil })
	s.OnClose("realtime", engine.Close)
	s.OnStandDown(engine.StandDown)
	s.OnStandDown(stream.StandDown)
	s.keys.OnChange(func(keys.Set) { engine.Reverify() })
	s.realtime = engine
	return nil
}

// maintain keeps the partitions of realtime.messages until ctx ends.
func maintain(ctx context.Context, store *messages.Store, s *services) {
	for {
		if err := store.Maintain(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("partitions of realtime.messages", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(maintainEvery):
		}
	}
}

// realtimeSettings returns the limits of config.toml.
func realtimeSettings(c config.Realtime) realtime.Settings {
	return realtime.Settings{
		MaxConnections: c.MaxConnections, MaxChannelsPerClient: c.MaxChannelsPerClient,
		MaxJoinsPerSecond: c.MaxJoinsPerSecond, MaxEventsPerSecond: c.MaxEventsPerSecond,
		MaxPresenceEventsPerSecond: c.MaxPresenceEventsPerSecond, MaxPayloadKB: c.MaxPayloadKB,
		MaxClientKBPerSecond: c.MaxClientKBPerSecond, ClientPresenceEvents: c.ClientPresenceEvents, ClientPresenceWindow: time.Duration(c.ClientPresenceWindow),
		PrivateOnly: c.PrivateOnly,
	}
}
