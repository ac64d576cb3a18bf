package main

import (
	"context"
	"net/http"
	"os"
	"strings"
)

// metaRows compares meta with postgres-meta (META_UPSTREAM_URL), which has to use the database of
// the stack: DATABASE_URL, as postgres.
func metaRows(m *model) []row {
	servers := m.servers("/pg", "SERVICE_ROLE_KEY")
	if url := os.Getenv("META_UPSTREAM_URL"); url != "" {
		servers = append(servers, served{"postgres-meta", target{url: strings.TrimRight(url, "/")}})
	}
	send := func(method, path, body string) func(target) side {
		return func(t target) side {
			return side{do: func(ctx context.Context, _, _ int) error {
				return m.sendTo(ctx, t, method, path, []byte(body), nil)
			}}
		}
	}
	kinds := []struct {
		name string
		make func(target) side
	}{
		{"query", send(http.MethodPost, "/query", `{"query":"select * from pg_settings order by name limit 100"}`)},
		{"tables", send(http.MethodGet, "/tables", "")},
		{"types", send(http.MethodGet, "/types", "")},
		{"TypeScript", send(http.MethodGet, "/generators/typescript", "")},
	}
	var rows []row
	for _, k := range kinds {
		rows = append(rows, newRow("meta: "+k.name, servers, k.make))
	}
	return rows
}
