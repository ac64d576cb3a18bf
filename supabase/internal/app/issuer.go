package app

import (
	"context"

	"daawo/supabase/internal/base/issuer"
)

// watchIssuer accepts the tokens of the issuer of [auth.third_party] while the stack serves. Auth
// itself does not accept them, as upstream.
func (s *services) watchIssuer() {
	url, audience := s.Config.Auth.ThirdParty.Issuer()
	if url == "" {
		return
	}
	log := s.Log.With("part", "issuer")
	var elsewhere []string
	for _, u := range []struct{ name, url string }{
		{"REST_URL", s.Config.RESTURL}, {"STORAGE_URL", s.Config.StorageURL}, {"REALTIME_URL", s.Config.RealtimeURL},
		{"FUNCTIONS_URL", s.Config.FunctionsURL},
	} {
		if u.url != "" {
			elsewhere = append(elsewhere, u.name)
		}
	}
	if len(elsewhere) > 0 {
		log.Warn("services that run elsewhere need the keys of the third-party issuer in their own settings", "issuer",
			url, "services", elsewhere)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		issuer.Watch(ctx, issuer.Options{URL: url, Audience: audience, Unknown: s.keys.unknown, Use: s.keys.trust,
			Log: log})
	}()
	s.OnClose("third-party issuer", func(context.Context) error { cancel(); <-done; return nil })
}
