package changes

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unique"

	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// bindingGroup is a set of bindings that get the same changes with the same content: only their
// subscribers differ. A change is checked once per group.
type bindingGroup struct {
	key                  string
	schema, table, event string
	id                   uint32 // OID that the table had at the subscription; 0 if a part of its name is "*"
	filters              []condition
	filterKey            string   // equal for equal filters
	selected             []string // nil means all columns
	selectKey            string
	role                 string
	user                 unique.Handle[policyUser]
	members              []member
}

// policyUser is a user as the policies of row level security see it.
type policyUser struct{ role, claims string } // claims as JSON

// member is a subscriber's bindings in a group.
type member struct {
	sub *subscriber
	ids []int64
}

// names reports whether the group listens to a table by its name.
func (g *bindingGroup) names(schema, table string) bool {
	return (g.schema == "*" || g.schema == schema) && (g.table == "*" || g.table == table)
}

// subscriber is a Subscriber with its binding groups.
type subscriber struct {
	id       int64
	bindings []Binding
	tables   []uint32 // of the bindings: OIDs, 0 before the first check and for "*"
	deliver  func(Change)
	resumed  func(reason string, position uint64) // may be nil
	groups   []*bindingGroup                      // guarded by the registry
	// connection of the stream whose changes it gets, 0 before the first; guarded by the stream
	since   int
	epoch   atomic.Uint64 // changes when the claims do
	closed  atomic.Bool
	release func()
	progress
}

// registry has the binding groups of all subscribers. It is safe for concurrent use.
type registry struct {
	mu          sync.RWMutex
	nextID      int64
	subscribers map[int64]*subscriber
	groups      map[string]*bindingGroup
	tables      map[[2]string][]*bindingGroup // by the schema and table that the binding names
	ids         map[uint32][]*bindingGroup    // by the OID that the table had at the subscription
}

func newRegistry() *registry {
	return &registry{subscribers: map[int64]*subscriber{}, groups: map[string]*bindingGroup{},
		tables: map[[2]string][]*bindingGroup{}, ids: map[uint32][]*bindingGroup{}}
}

// add stores a subscriber and returns its id.
func (r *registry) add(sub *subscriber, groups []*bindingGroup) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nextID++
	sub.id = r.nextID
	r.subscribers[sub.id] = sub
	r.addToGroups(sub, groups)
	return sub.id
}

// addToGroups adds a subscriber to binding groups, which are merged with equal ones. The caller
// holds the lock.
func (r *registry) addToGroups(sub *subscriber, groups []*bindingGroup) {
	for _, g := range groups {
		known, ok := r.groups[g.key]
		if !ok {
			known = g
			r.groups[g.key] = g
			at := [2]string{g.schema, g.table}
			r.tables[at] = append(r.tables[at], g)
			if g.id != 0 {
				r.ids[g.id] = append(r.ids[g.id], g)
			}
		} else {
			known.members = append(known.members, g.members...)
		}
		sub.groups = append(sub.groups, known)
	}
}

// removeFromGroups removes a subscriber from its binding groups. The caller holds the lock.
func (r *registry) removeFromGroups(sub *subscriber) {
	for _, g := range sub.groups {
		g.members = slices.DeleteFunc(slices.Clone(g.members), func(m member) bool { return m.sub == sub })
		if len(g.members) > 0 {
			continue
		}
		delete(r.groups, g.key)
		removeGroup(r.tables, [2]string{g.schema, g.table}, g)
		removeGroup(r.ids, g.id, g)
	}
	sub.groups = nil
}

func removeGroup[K comparable](groups map[K][]*bindingGroup, at K, g *bindingGroup) {
	rest := slices.DeleteFunc(slices.Clone(groups[at]), func(other *bindingGroup) bool { return other == g })
	if len(rest) == 0 {
		delete(groups, at)
	} else {
		groups[at] = rest
	}
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
		r.removeFromGroups(sub)
		delete(r.subscribers, id)
	}
	return ok
}

// replace moves a subscriber to other binding groups. It reports whether the subscriber still
// exists.
func (r *registry) replace(sub *subscriber, groups []*bindingGroup) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.subscribers[sub.id] != sub {
		return false
	}
	r.removeFromGroups(sub)
	sub.epoch.Add(1)
	r.addToGroups(sub, groups)
	return true
}

// wants reports whether a binding names the table, or named it before it was renamed.
func (r *registry) wants(table *pgoutput.Relation) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, at := range tableKeys(table.Schema, table.Table) {
		if len(r.tables[at]) > 0 {
			return true
		}
	}
	return len(r.ids[table.ID]) > 0
}

// tableKeys returns the keys of registry.tables that match a table.
func tableKeys(schema, table string) [4][2]string {
	return [4][2]string{{schema, table}, {schema, "*"}, {"*", table}, {"*", "*"}}
}

// listener is a binding group with its members at the time of a check.
type listener struct {
	*bindingGroup
	members []member
	epochs  []uint64
}

// listeners returns the binding groups that listen to a kind of changes of a table. If only is not
// nil, it leaves out subscribers that are missing there or have an index above the change's.
func (r *registry) listeners(table *pgoutput.Relation, kind string, only map[*subscriber]int,
	index int) (found []listener) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	add := func(g *bindingGroup) {
		if g.event != "*" && g.event != kind {
			return
		}
		l := listener{bindingGroup: g, members: g.members}
		if only != nil {
			l.members = slices.DeleteFunc(slices.Clone(g.members), func(m member) bool {
				first, ok := only[m.sub]
				return !ok || index < first
			})
		}
		if len(l.members) == 0 {
			return
		}
		l.epochs = make([]uint64, len(l.members))
		for i, m := range l.members {
			l.epochs[i] = m.sub.epoch.Load()
		}
		found = append(found, l)
	}
	for _, at := range tableKeys(table.Schema, table.Table) {
		for _, g := range r.tables[at] {
			add(g)
		}
	}
	for _, g := range r.ids[table.ID] {
		if !g.names(table.Schema, table.Table) { // the table was renamed
			add(g)
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

// groupBindings returns a group for each different binding, with sub as its only member.
func groupBindings(sub *subscriber, role string, claims map[string]any, valid []validBinding) ([]*bindingGroup,
	error) {
	text, err := json.Marshal(claims)
	if err != nil {
		return nil, err
	}
	user := unique.Make(policyUser{role, string(text)})
	byKey := map[string]*bindingGroup{}
	var groups []*bindingGroup
	sub.tables = make([]uint32, len(valid))
	for i, b := range sub.bindings {
		sub.tables[i] = valid[i].id
		g := &bindingGroup{schema: b.Schema, table: b.Table, event: b.Event, id: valid[i].id,
			filters: valid[i].filters, filterKey: b.Filter, role: role, user: user}
		if b.Select != nil {
			g.selected = slices.Compact(append([]string{}, slices.Sorted(slices.Values(b.Select))...))
			g.selectKey = "select\x00" + strings.Join(g.selected, "\x00")
		}
		key, err := json.Marshal([]any{g.schema, g.table, g.id, g.event, b.Filter, g.selectKey, role, string(text)})
		if err != nil {
			return nil, err
		}
		g.key = string(key)
		if known, ok := byKey[g.key]; ok {
			known.members[0].ids = append(known.members[0].ids, b.ID)
			continue
		}
		g.members = []member{{sub, []int64{b.ID}}}
		byKey[g.key] = g
		groups = append(groups, g)
	}
	return groups, nil
}
