package app

import (
	"context"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/meta"
)

// openMeta opens the meta engine, which is compatible with postgres-meta. It runs as postgres,
// which is no superuser.
func (s *services) openMeta(ctx context.Context) error {
	if s.Config.MetaURL != "" {
		return upstream(s.Installation, s.Config.MetaURL, &s.meta)
	}
	url := s.db.URL("postgres")
	catalog, err := s.pools.open(ctx, url, "meta", catalogConns)
	if err != nil {
		return err
	}
	console, err := s.pools.openConfig(ctx, "console", pool.Config{URL: url, MaxConns: consoleConns, Console: true})
	if err != nil {
		return err
	}
	s.meta = meta.New(meta.Options{Catalog: catalog, Console: console, CryptoKey: s.Config.MetaCryptoKey,
		Log: s.Log.With("part", "meta")})
	return nil
}
