package host

import (
	"sync"

	"daawo/supabase/edge"
)

// Registry holds the functions of a host.
type Registry struct {
	mu        sync.RWMutex
	given     map[string]edge.Func
	functions map[string]*function
}

// Replace makes these the functions of the host. Calls in flight end in the old ones.
func (r *Registry) Replace(functions map[string]edge.Func) error {
	next := map[string]*function{}
	for name, f := range functions {
		f = f.WithDefaults()
		if err := check(name, f); err != nil {
			return err
		}
		next[name] = &function{Func: f, name: name, gate: newGate(f), running: jobLimits(f)}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.functions, r.given = next, functions
	return nil
}

// lookup returns a function.
func (r *Registry) lookup(name string) (*function, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	f, ok := r.functions[name]
	return f, ok
}

// all returns all functions.
func (r *Registry) all() map[string]*function {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.functions
}

// Given returns the functions as they were given.
func (r *Registry) Given() map[string]edge.Func {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.given
}
