package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"daawo/scripts/server"
)

// probe is a request that needs the database.
type probe struct {
	what               string
	method, path, body string // an empty path sends a report
}

var probes = []probe{
	{"a REST read", "GET", "/rest/v1/resources?select=id", ""},
	{"a list of files", "POST", "/storage/v1/object/list/resources", `{"prefix":""}`},
	{"a file", "GET", "/storage/v1/object/authenticated/resources/" + probeFile, ""},
	{"the list of accounts", "GET", listOfAccounts, ""},
	{"a report", "", "", ""},
}

const (
	probeFile      = "drill.pdf"
	listOfAccounts = "/auth/v1/admin/users?per_page=1"
)

// ask sends the probe and returns the status; 0 means no reply. Reports use the key and are
// recorded in the history.
func (p probe) ask(ctx context.Context, st *server.Stack, h *history, key string) (int, http.Header) {
	if p.path == "" {
		o, r, _ := submit(ctx, st, key)
		h.add(entry{key: key, outcome: o, reference: r.Reference})
		return r.status, r.header
	}
	return sendAs(ctx, st, key, p.method, p.path, "application/json", p.body)
}

// sendAs sends a request with the service key, from a client address that depends on key. It waits
// longer than any service lets a caller wait.
func sendAs(ctx context.Context, st *server.Stack, key, method, path, contentType, body string) (int, http.Header) {
	a := call{path: path, method: method, key: st.Get("SERVICE_ROLE_KEY"), from: addressOf(key), kind: contentType,
		body: []byte(body), within: 20 * time.Second}.send(ctx, st)
	return a.status, a.header
}

// served stores the probe's file and checks that every probe returns 200 before the drill begins.
func served(ctx context.Context, st *server.Stack, h *history, seed int64) error {
	key := fmt.Sprintf("served-%d-%d", seed, time.Now().UnixNano())
	if code, _ := sendAs(ctx, st, key, "PUT", "/storage/v1/object/resources/"+probeFile, "application/pdf",
		"%PDF-1.4"); code != http.StatusOK {
		if code, _ = sendAs(ctx, st, key, "POST", "/storage/v1/object/resources/"+probeFile, "application/pdf",
			"%PDF-1.4"); code != http.StatusOK {
			return fmt.Errorf("storing a file returned %d", code)
		}
	}
	return answered(ctx, st, h, key, probes)
}

// answered checks that every probe returns 200.
func answered(ctx context.Context, st *server.Stack, h *history, key string, probes []probe) error {
	for _, p := range probes {
		if code, _ := p.ask(ctx, st, h, key); code != http.StatusOK {
			return fmt.Errorf("%s returned %d", p.what, code)
		}
	}
	return nil
}
