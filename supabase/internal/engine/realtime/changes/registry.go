package changes

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unique"
)

// class is a set of bindings that get the same changes with the same content: they agree in
// everything but the subscriber. A change is checked once per class.
type class struct {
	key                  string
	schema, table, event string
	filters              []condition
	filterKey            string   // equal for equal filters
	selected             []string // nil means all columns
	selectKey            string
	role                 string
	viewer               unique.Handle[viewer]
	members              []member
}

// viewer is a user whose rights are checked.
type viewer struct{ role, claims string } // claims as JSON

// member is a subscriber's bindings in a class.
type member struct {
	sub *subscriber
	ids []int64
}

// matches reports whether the class listens to a kind of changes of a table.
func (c *class) matches(schema, table, kind string) bool {
	return (c.event == "*" || c.event == kind) && (c.schema == "*" || c.schema == schema) &&
		(c.table == "*" || c.table == table)
}

// subscriber is a Subscriber with its classes.
type subscriber struct {
	id       int64
	bindings []Binding
	deliver  func(Change)
	resumed  func()        // may be nil
	classes  []*class      // guarded by the registry
	since    int           // connection of the stream whose changes it gets, 0 before the first; guarded by the stream
	epoch    atomic.Uint64 // changes when the claims do
	closed   atomic.Bool
	release  func()
}

// registry has the classes of all subscribers. It is safe for concurrent use.
type registry struct {
	mu          sync.RWMutex
	nextID      int64
	subscribers map[int64]*subscriber
	classes     map[string]*class
	tables      map[[2]string][]*class // by the schema and table that the binding names
}

func newRegistry() *registry {
	return &registry{subscribers: map[int64]*subscriber{}, classes: map[string]*class{},
		tables: map[[2]string][]*class{}}
}

// add stores a subscriber and returns its id.
func (r *registry) add(sub *subscriber, classes []*class) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nextID++
	sub.id = r.nextID
	r.subscribers[sub.id] = sub
	r.join(sub, classes)
	return sub.id
}

// join adds a subscriber to classes, which are merged with equal ones. The caller holds the lock.
func (r *registry) join(sub *subscriber, classes []*class) {
	for _, c := range classes {
		known, ok := r.classes[c.key]
		if !ok {
			known = c
			r.classes[c.key] = c
			at := [2]string{c.schema, c.table}
			r.tables[at] = append(r.tables[at], c)
		} else {
			known.members = append(known.members, c.members...)
		}
		sub.classes = append(sub.classes, known)
	}
}

// leave removes a subscriber from its classes. The caller holds the lock.
func (r *registry) leave(sub *subscriber) {
	for _, c := range sub.classes {
		c.members = slices.DeleteFunc(slices.Clone(c.members), func(m member) bool { return m.sub == sub })
		if len(c.members) > 0 {
			continue
		}
		delete(r.classes, c.key)
		at := [2]string{c.schema, c.table}
		rest := slices.DeleteFunc(slices.Clone(r.tables[at]), func(other *class) bool { return other == c })
		if len(rest) == 0 {
			delete(r.tables, at)
		} else {
			r.tables[at] = rest
		}
	}
	sub.classes = nil
}

func (r *registry) get(id int64) *subscriber {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.subscribers[id]
}

// remove removes a subscriber. It reports whether it existed.
func (r *registry) remove(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	sub, ok := r.subscribers[id]
	if ok {
		sub.closed.Store(true)
		r.leave(sub)
		delete(r.subscribers, id)
	}
	return ok
}

// replace moves a subscriber to other classes. It reports whether the subscriber still exists.
func (r *registry) replace(sub *subscriber, classes []*class) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.subscribers[sub.id] != sub {
		return false
	}
	r.leave(sub)
	sub.epoch.Add(1)
	r.join(sub, classes)
	return true
}

// wants reports whether a binding names the table.
func (r *registry) wants(schema, table string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, at := range places(schema, table) {
		if len(r.tables[at]) > 0 {
			return true
		}
	}
	return false
}

// places are the keys of registry.tables that match a table.
func places(schema, table string) [4][2]string {
	return [4][2]string{{schema, table}, {schema, "*"}, {"*", table}, {"*", "*"}}
}

// listener is a class with its members at the time of a check.
type listener struct {
	*class
	members []member
	epochs  []uint64
}

// listeners returns the classes that listen to a kind of changes of a table. If only is not nil, it
// leaves out subscribers that are missing there or have an index above that of the change.
func (r *registry) listeners(schema, table, kind string, only map[*subscriber]int, index int) (found []listener) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, at := range places(schema, table) {
		for _, c := range r.tables[at] {
			if !c.matches(schema, table, kind) {
				continue
			}
			l := listener{class: c, members: c.members}
			if only != nil {
				l.members = slices.DeleteFunc(slices.Clone(c.members), func(m member) bool {
					first, ok := only[m.sub]
					return !ok || index < first
				})
			}
			if len(l.members) == 0 {
				continue
			}
			l.epochs = make([]uint64, len(l.members))
			for i, m := range l.members {
				l.epochs[i] = m.sub.epoch.Load()
			}
			found = append(found, l)
		}
	}
	return found
}

// all returns the subscribers.
func (r *registry) all() []*subscriber {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Collect(maps.Values(r.subscribers))
}

// count returns the number of subscribers.
func (r *registry) count() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.subscribers)
}

// groupBindings returns a class for each different binding, with sub as its only member. filters
// has the conditions of each binding.
func groupBindings(sub *subscriber, role string, claims map[string]any, filters [][]condition) ([]*class, error) {
	text, err := json.Marshal(claims)
	if err != nil {
		return nil, err
	}
	who := unique.Make(viewer{role, string(text)})
	byKey := map[string]*class{}
	var classes []*class
	for i, b := range sub.bindings {
		c := &class{schema: b.Schema, table: b.Table, event: b.Event, filters: filters[i], filterKey: b.Filter,
			role: role, viewer: who}
		if b.Select != nil {
			c.selected = slices.Compact(append([]string{}, slices.Sorted(slices.Values(b.Select))...))
			c.selectKey = "select\x00" + strings.Join(c.selected, "\x00")
		}
		key, err := json.Marshal([]string{c.schema, c.table, c.event, b.Filter, c.selectKey, role, string(text)})
		if err != nil {
			return nil, err
		}
		c.key = string(key)
		if known, ok := byKey[c.key]; ok {
			known.members[0].ids = append(known.members[0].ids, b.ID)
			continue
		}
		c.members = []member{{sub, []int64{b.ID}}}
		byKey[c.key] = c
		classes = append(classes, c)
	}
	return classes, nil
}
