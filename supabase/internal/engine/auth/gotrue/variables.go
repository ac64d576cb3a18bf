package gotrue

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// env reads variables and collects their errors.
type env struct {
	get   func(string) (string, bool)
	asked map[string]bool // names without GOTRUE_
	errs  []error
}

// text returns GOTRUE_name, or the variable without the prefix, as GoTrue accepts DATABASE_URL,
// PORT and API_EXTERNAL_URL.
func (e *env) text(name, fallback string) string {
	e.asked[name] = true
	for _, full := range []string{"GOTRUE_" + name, name} {
		if v, ok := e.get(full); ok && v != "" {
			return v
		}
	}
	return fallback
}

func read[T any](e *env, name string, fallback T, parse func(string) (T, error)) T {
	v := e.text(name, "")
	if v == "" {
		return fallback
	}
	out, err := parse(strings.TrimSpace(v))
	if err != nil {
		e.errs = append(e.errs, fmt.Errorf("GOTRUE_%s: invalid value %q", name, v))
		return fallback
	}
	return out
}

func (e *env) flag(name string, fallback bool) bool {
	return read(e, name, fallback, strconv.ParseBool)
}
func (e *env) int(name string, fallback int) int { return read(e, name, fallback, strconv.Atoi) }
func (e *env) duration(name string, fallback time.Duration) time.Duration {
	return read(e, name, fallback, time.ParseDuration)
}

// seconds reads a number of seconds.
func (e *env) seconds(name string, fallback int) time.Duration {
	return time.Duration(e.int(name, fallback)) * time.Second
}

// list reads comma-separated values.
func (e *env) list(name string) []string {
	return strings.FieldsFunc(e.text(name, ""), func(c rune) bool { return c == ',' })
}

func (e *env) need(name string) string {
	v := e.text(name, "")
	if v == "" {
		e.errs = append(e.errs, fmt.Errorf("GOTRUE_%s is required", name))
	}
	return v
}

// burst is how many requests of one kind GoTrue takes from a client at once, whatever the limit of
// the kind is.
const burst = 30

// rate reads a count per hour. "30" equals GoTrue's longer form "30/1h". It returns -1 for "0",
// which allows no message.
func (e *env) rate(name string, fallback int) int {
	return read(e, name, fallback, func(v string) (int, error) {
		count, per, ok := strings.Cut(v, "/")
		n, err := strconv.ParseFloat(count, 64)
		if err == nil && ok {
			var d time.Duration
			if d, err = time.ParseDuration(per); err == nil && d > 0 {
				n *= float64(time.Hour) / float64(d)
			}
		}
		if err == nil && n == 0 {
			return -1, nil
		}
		return int(n), err
	})
}
