package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
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

// patient has a longer timeout than any service.
var patient = &http.Client{Timeout: 20 * time.Second, Transport: client.Transport}

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

// sendAs sends a request with the service key, from a client address that depends on key.
func sendAs(ctx context.Context, st *server.Stack, key, method, path, contentType, body string) (int, http.Header) {
	req, err := http.NewRequestWithContext(ctx, method, st.Get("API_URL")+path, strings.NewReader(body))
	if err != nil {
		return 0, nil
	}
	req.Header.Set("Apikey", st.Get("SERVICE_ROLE_KEY"))
	req.Header.Set("Authorization", "Bearer "+st.Get("SERVICE_ROLE_KEY"))
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("X-Forwarded-For", addressOf(key))
	res, err := patient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20)); err != nil {
		return 0, nil
	}
	return res.StatusCode, res.Header
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
