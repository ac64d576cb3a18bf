package realtime

import (
	"encoding/json"
	"net/http"
	"os"
	"time"
)

// tenantRoutes adds upstream's API of tenants. This server has one tenant. Its limits can be
// changed until the next start; tenants cannot be created or deleted.
func (e *Engine) tenantRoutes(mux *http.ServeMux) {
	route := func(pattern string, h func(http.ResponseWriter, *http.Request)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case e.o.VerifyAdmin == nil:
				replyMessage(w, http.StatusNotFound, "Not Found")
			case e.o.VerifyAdmin(cleanToken(requestToken(r))) != nil:
				w.WriteHeader(http.StatusForbidden)
			case r.PathValue("id") != "" && r.PathValue("id") != e.o.Tenant.ID:
				replyMessage(w, http.StatusNotFound, "not found")
			default:
				h(w, r)
			}
		})
	}
	route("GET /api/tenants", func(w http.ResponseWriter, _ *http.Request) {
		replyJSON(w, http.StatusOK, map[string]any{"data": []any{e.tenant()}})
	})
	route("GET /api/tenants/{id}", func(w http.ResponseWriter, _ *http.Request) {
		replyJSON(w, http.StatusOK, map[string]any{"data": e.tenant()})
	})
	route("GET /api/tenants/{id}/health", func(w http.ResponseWriter, _ *http.Request) {
		replyJSON(w, http.StatusOK, map[string]any{"data": e.health()})
	})
	route("PUT /api/tenants/{id}", e.putTenant)
	route("PATCH /api/tenants/{id}", e.putTenant)
	for _, action := range []string{"reload", "shutdown"} {
		route("POST /api/tenants/{id}/"+action, func(w http.ResponseWriter, _ *http.Request) {
			if action == "reload" {
				e.disconnectAll()
			}
			w.WriteHeader(http.StatusNoContent)
		})
	}
	refused := func(w http.ResponseWriter, _ *http.Request) {
		replyMessage(w, http.StatusUnprocessableEntity, "This server has one tenant, which its variables define")
	}
	route("POST /api/tenants", refused)
	route("DELETE /api/tenants/{id}", refused)
}

// tenant returns the tenant in upstream's shape.
func (e *Engine) tenant() map[string]any {
	s, t := e.settings.Load(), e.o.Tenant
	started := e.started.UTC().Format(time.RFC3339)
	return map[string]any{
		"id": t.ID, "external_id": t.ID, "name": t.ID, "inserted_at": started,
		"max_concurrent_users": s.MaxConnections, "max_channels_per_client": s.MaxChannelsPerClient,
		"max_events_per_second": s.MaxEventsPerSecond, "max_joins_per_second": s.MaxJoinsPerSecond,
		"max_presence_events_per_second": s.MaxPresenceEventsPerSecond, "max_payload_size_in_kb": s.MaxPayloadKB,
		"private_only": s.PrivateOnly, "presence_enabled": s.PresenceEnabled, "suspend": s.Suspended,
		"max_client_presence_events_per_window": s.ClientPresenceEvents,
		"client_presence_window_ms":             s.ClientPresenceWindow.Milliseconds(),
		"extensions": []any{map[string]any{
			"type": "postgres_cdc_rls", "inserted_at": started, "updated_at": started,
			"settings": map[string]string{
				"db_host": t.Database.Host, "db_port": t.Database.Port, "db_name": t.Database.Name,
				"db_user": t.Database.User,
			},
		}},
	}
}

// health returns the state in upstream's shape. Without connections to the database the tenant is
// healthy if it has no clients, as upstream.
func (e *Engine) health() map[string]any {
	connected := e.o.Changes != nil && e.o.Changes.Ready() == nil
	clients := e.connectionCount()
	host, _ := os.Hostname() // "" if the system has none
	return map[string]any{
		"healthy": connected || clients == 0, "db_connected": connected, "replication_connected": connected,
		"connected_cluster": clients, "region": "", "node": host,
	}
}

// putTenant changes limits.
func (e *Engine) putTenant(w http.ResponseWriter, r *http.Request) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	var request struct {
		Tenant *struct {
			MaxConnections             *int  `json:"max_concurrent_users"`
			MaxChannelsPerClient       *int  `json:"max_channels_per_client"`
			MaxEventsPerSecond         *int  `json:"max_events_per_second"`
			MaxJoinsPerSecond          *int  `json:"max_joins_per_second"`
			MaxPresenceEventsPerSecond *int  `json:"max_presence_events_per_second"`
			MaxPayloadKB               *int  `json:"max_payload_size_in_kb"`
			ClientPresenceEvents       *int  `json:"max_client_presence_events_per_window"`
			ClientPresenceWindow       *int  `json:"client_presence_window_ms"`
			PrivateOnly                *bool `json:"private_only"`
			PresenceEnabled            *bool `json:"presence_enabled"`
			Suspended                  *bool `json:"suspend"`
		} `json:"tenant"`
	}
	if err := json.Unmarshal(body, &request); err != nil || request.Tenant == nil {
		replyMessage(w, http.StatusBadRequest, "Bad Request")
		return
	}
	t, s := request.Tenant, *e.settings.Load()
	for _, f := range []struct {
		from *int
		to   *int
	}{
		{t.MaxConnections, &s.MaxConnections}, {t.MaxChannelsPerClient, &s.MaxChannelsPerClient},
		{t.MaxEventsPerSecond, &s.MaxEventsPerSecond}, {t.MaxJoinsPerSecond, &s.MaxJoinsPerSecond},
		{t.MaxPresenceEventsPerSecond, &s.MaxPresenceEventsPerSecond}, {t.MaxPayloadKB, &s.MaxPayloadKB},
		{t.ClientPresenceEvents, &s.ClientPresenceEvents},
	} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if t.ClientPresenceWindow != nil {
		s.ClientPresenceWindow = time.Duration(*t.ClientPresenceWindow) * time.Millisecond
	}
	for _, f := range []struct{ from, to *bool }{
		{t.PrivateOnly, &s.PrivateOnly}, {t.PresenceEnabled, &s.PresenceEnabled}, {t.Suspended, &s.Suspended},
	} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	s = s.withDefaults()
	e.settings.Store(&s)
	if s.Suspended {
		e.disconnectAll()
	}
	w.Header().Set("Location", "/api/tenants/"+e.o.Tenant.ID)
	replyJSON(w, http.StatusOK, map[string]any{"data": e.tenant()})
}
