// Package logattr gives the attributes of all logs one form, in the server and in the processes of
// functions. It is apart from observe because Prometheus would take those processes longer to link.
package logattr

import (
	"log/slog"
	"strings"
	"time"
)

// Seconds writes durations as seconds with at most six decimals. It is a
// slog.HandlerOptions.ReplaceAttr. Libraries log some durations as text, such as 1.5s under a name
// that ends in duration; these become seconds, too.
func Seconds(_ []string, a slog.Attr) slog.Attr {
	d := time.Duration(0)
	switch a.Value.Kind() {
	case slog.KindDuration:
		d = a.Value.Duration()
	case slog.KindString:
		parsed, err := time.ParseDuration(a.Value.String())
		if err != nil || !strings.HasSuffix(a.Key, "duration") {
			return a
		}
		d = parsed
	default:
		return a
	}
	return slog.Float64(a.Key, d.Round(time.Microsecond).Seconds())
}
