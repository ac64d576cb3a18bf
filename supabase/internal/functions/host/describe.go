package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"daawo/supabase/edge"
)

// Protocol is the version of the requests between this program and a bundle of functions. Both must
// have the same.
const Protocol = 3

// Description says what a version of the functions contains.
type Description struct {
	Protocol  int            `json:"protocol"`
	Functions []FunctionInfo `json:"functions"`
}

// Answers reports whether a function of this name answers calls.
func (d Description) Answers(name string) bool {
	return slices.ContainsFunc(d.Functions, func(f FunctionInfo) bool { return f.Name == name && f.Handler })
}

// MaxBody returns the largest body that the function of a path accepts, in bytes; 0 for an unknown
// function.
func (d Description) MaxBody(path string) int64 {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	for _, f := range d.Functions {
		if f.Name == name {
			return f.MaxBody
		}
	}
	return 0
}

// FunctionInfo describes a function.
type FunctionInfo struct {
	Name          string   `json:"name"`
	Language      string   `json:"language,omitempty"` // "" means Go
	Handler       bool     `json:"handler"`            // answers calls
	Typed         bool     `json:"typed"`              // by edge.JSON
	Methods       []string `json:"methods,omitempty"`
	VerifyJWT     bool     `json:"verify_jwt"`
	Timeout       string   `json:"timeout"`
	MaxBody       int64    `json:"max_body"`
	MaxConcurrent int      `json:"max_concurrent"`
	Schedule      string   `json:"schedule,omitempty"`
	Jobs          []string `json:"jobs,omitempty"`
}

// Describe returns the functions of the host, ordered by name.
func (h *Host) Describe() Description { return Description{Protocol, Describe(h.Given())} }

// Describe returns functions, ordered by name.
func Describe(functions map[string]edge.Func) []FunctionInfo {
	list := []FunctionInfo{}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		f := functions[name].WithDefaults()
		list = append(list, FunctionInfo{
			Name: name, Handler: f.Handler != nil, Typed: f.JSON != nil, Methods: f.Methods, VerifyJWT: !f.NoVerifyJWT,
			Timeout: f.Timeout.String(), MaxBody: f.MaxBody, MaxConcurrent: f.MaxConcurrent,
			Schedule: f.Schedule, Jobs: slices.Sorted(maps.Keys(f.Jobs)),
		})
	}
	return list
}

// SchedulesOf returns the cron expressions of functions by name.
func SchedulesOf(functions []FunctionInfo) map[string]string {
	crons := map[string]string{}
	for _, f := range functions {
		if f.Schedule != "" {
			crons[f.Name] = f.Schedule
		}
	}
	return crons
}

// HealthTimeout bounds the checks of a version, together.
const HealthTimeout = 10 * time.Second

// CheckHealth runs Func.Health of all functions.
func (h *Host) CheckHealth(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, HealthTimeout)
	defer cancel()
	var failed []error
	for name, f := range h.all() {
		if f.Health == nil {
			continue
		}
		err := h.background(ctx, name, "health",
			func(ctx context.Context, env *edge.Env) error { return f.Health(ctx, env) })
		if err != nil {
			failed = append(failed, fmt.Errorf("function %s is not healthy: %w", name, err))
		}
	}
	return errors.Join(failed...)
}
