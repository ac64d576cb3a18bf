package app

import (
	"regexp"
	"strconv"
	"testing"
	"time"
)

// testStackMetrics reads /metrics: the pools, the requests of each engine, the disk, and the age of
// the backup, which is infinite until a backup is good.
func testStackMetrics(t *testing.T, a *App, info Info) {
	api := info.Get("API_URL")
	for _, path := range []string{"/rest/v1/notes", "/auth/v1/settings", "/storage/v1/bucket", "/functions/v1/hello"} {
		call(t, "GET", api+path, "", "apikey", info.Get("SECRET_KEY"))
	}
	read := func(series string) (float64, bool) { return metric(t, api, series) }
	for _, service := range []string{"rest", "auth", "storage", "functions"} {
		waitFor(t, "requests of "+service, func() bool { // counted after the client has its reply
			n, ok := read(`daawo_http_request_duration_seconds_count{method="GET",service="` + service + `",status="200"}`)
			return ok && n >= 1
		})
	}
	for part, most := range map[string]float64{"rest": restConns, "auth": authConns, "storage": storageConns,
		"functions": functionsConns, "outbox": outboxConns} {
		if n, ok := read(`daawo_database_connections_max{part="` + part + `"}`); !ok || n != most {
			t.Errorf("pool of %s: %v", part, n)
		}
		if n, ok := read(`daawo_database_connections{part="` + part + `",state="idle"}`); !ok || n > most {
			t.Errorf("idle connections of %s: %v %t", part, n, ok)
		}
	}
	conn, err := a.pools.all()["rest"].Pgx().Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := read(`daawo_database_connections{part="rest",state="used"}`); !ok || n < 1 {
		t.Errorf("used connections of rest: %v", n)
	}
	conn.Release()
	checkDiskMetrics(t, api)
	for _, series := range []string{"daawo_backup_age_seconds", "daawo_backup_log_age_seconds"} {
		waitFor(t, series, func() bool {
			age, ok := read(series)
			return ok && age >= 0 && age < time.Hour.Seconds()
		})
	}
}

// checkDiskMetrics compares figures of one reply, because other tests write to the disk.
func checkDiskMetrics(t *testing.T, api string) {
	t.Helper()
	_, text := call(t, "GET", api+"/metrics", "")
	free, _ := metricIn(text, "daawo_disk_free_bytes")
	size, _ := metricIn(text, "daawo_disk_size_bytes")
	if writable, ok := metricIn(text, "daawo_disk_writable_bytes"); !ok || writable > free || free > size || size <= 0 {
		t.Errorf("disk: %v writable, %v free, %v", writable, free, size)
	}
}

// metric returns the value of a series of /metrics. ok is false if there is none.
func metric(t *testing.T, api, series string) (value float64, ok bool) {
	t.Helper()
	_, text := call(t, "GET", api+"/metrics", "")
	return metricIn(text, series)
}

// metricIn returns the value of a series of a reply of /metrics.
func metricIn(text, series string) (value float64, ok bool) {
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	value, err := strconv.ParseFloat(found[1], 64)
	return value, err == nil
}
