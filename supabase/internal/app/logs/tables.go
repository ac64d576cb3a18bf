package logs

import (
	"fmt"
	"strings"
	"time"
)

// record is a row, or a struct in one: values by column.
type record = map[string]any

// tables are the tables of Logflare with the services whose entries they hold. Those without a
// service are empty, or are read from a Source.
var tables = map[string][]string{
	"edge_logs":          {"auth", "rest", "graphql", "storage", "functions", "meta", "realtime", "gateway"},
	"function_edge_logs": {"functions"},
	"function_logs":      {},
	"auth_logs":          {"auth"},
	"auth_audit_logs":    {},
	"storage_logs":       {"storage"},
	"realtime_logs":      {"realtime"},
	"postgrest_logs":     {"rest", "graphql"},
	"postgres_logs":      {"postgres"},
	"supavisor_logs":     {}, "pgbouncer_logs": {}, "pg_upgrade_logs": {}, "pg_cron_logs": {},
	"etl_replication_logs": {}, "multigres_logs": {},
}

// row returns an entry as a row of a table.
func row(table string, e Entry) record {
	text := e.Text
	if e.Method != "" {
		text = fmt.Sprintf("%s | %d | %s", e.Method, e.Status, e.Path)
	}
	r := record{"id": e.ID, "timestamp": e.Time.UTC(), "event_message": text, "identifier": "default"}
	request := record{"method": e.Method, "path": e.Path, "pathname": e.Path, "search": nil, "host": nil,
		"url": e.Path, "headers": []any{record{}}, "cf": []any{record{}}}
	response := record{"status_code": float64(e.Status), "origin_time": milliseconds(e.Took),
		"headers": []any{record{}}}
	var m record
	switch table {
	case "postgres_logs":
		m = record{"host": "default", "parsed": []any{record{"error_severity": e.Level, "user_name": nil,
			"application_name": nil, "detail": nil, "hint": nil, "query": nil, "database_name": "postgres"}}}
	case "function_edge_logs":
		name, _, _ := strings.Cut(strings.TrimPrefix(e.Path, "/functions/v1/"), "/")
		m = record{"function_id": name, "function_name": name, "execution_id": e.ID, "deployment_id": nil,
			"version": nil, "execution_time_ms": milliseconds(e.Took), "request": []any{request}, "response": []any{response}}
	case "function_logs":
		m = record{"event_type": "Log", "function_id": e.Function, "execution_id": nil, "level": e.Level,
			"deployment_id": nil, "version": nil, "timestamp": e.Time.UTC()}
	case "auth_audit_logs":
		m = record{"auth_audit_event": []any{e.Event}, "level": "info", "msg": text, "host": nil}
	case "edge_logs":
		m = record{"request": []any{request}, "response": []any{response}}
	default:
		m = record{"level": level(e.Status), "status": fmt.Sprint(e.Status), "path": e.Path, "msg": text, "error": nil,
			"method": e.Method, "duration": milliseconds(e.Took)}
	}
	r["metadata"] = []any{m}
	return r
}

// level returns the level of a request in the log of a service.
func level(status int) string {
	switch {
	case status >= 500:
		return "error"
	case status >= 400:
		return "warning"
	}
	return "info"
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
