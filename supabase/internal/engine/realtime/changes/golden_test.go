package changes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/testdb"
)

// goldenLimit is the size above which both sides send only short values.
const goldenLimit = 20_000

// TestGolden compares the messages of the stream with those of realtime.list_changes, which
// wal2json feeds, on one database: random tables of all types, policies, privileges, identities and
// subscriptions. The stream has the options that follow upstream. GOLDEN=long compares three seeds
// of many tables; GOLDEN_SQL is a file that replaces the functions of the schema realtime, for
// instance by upstream's own.
func TestGolden(t *testing.T) {
	seeds, tables := 1, 12
	if os.Getenv("GOLDEN") == "long" {
		seeds, tables = 3, 60
	}
	d := testdb.NewWal2json(t)
	d.ExecAs("supabase_admin", goldenSetup)
	if file := os.Getenv("GOLDEN_SQL"); file != "" {
		sql, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d.ExecAs("supabase_admin", string(sql))
	}
	s := openOn(t, d, func(o *Options) {
		o.Lenient, o.Unauthorized, o.MaxRecordBytes = true, true, goldenLimit
	})
	g := &golden{T: t, d: d, s: s, conn: d.Conn("supabase_admin"), seen: map[string]int{}}
	g.exec(`select pg_create_logical_replication_slot('wal2json', 'wal2json')`)
	defer g.exec(`select pg_drop_replication_slot('wal2json')`)
	g.listenToFence()
	for seed := range seeds {
		g.rand = rand.New(rand.NewPCG(uint64(seed+1), 0))
		for n := range tables {
			g.table(fmt.Sprintf("t%d_%d", seed+1, n))
		}
	}
	t.Logf("%d messages of %d changes compared: %v", g.messages, g.changes, g.seen)
	if g.messages < 10*tables || g.accepted < 3*tables {
		t.Errorf("only %d messages compared, of %d subscriptions", g.messages, g.accepted)
	}
}

// golden compares the stream with the functions.
type golden struct {
	*testing.T
	rand  *rand.Rand
	d     *testdb.DB
	s     *Stream
	conn  *pgx.Conn
	fence chan struct{}
	subs  []*goldenSub

	changes, messages, accepted int
	seen                        map[string]int // messages by kind
}

// goldenSub is a subscriber of both sides.
type goldenSub struct {
	id             int64
	subscriptionID string // of upstream's side
	role           string
	claims         map[string]any
	event, filter  string
	selected       []string
	box            inbox
}

func (g *golden) exec(sql string, args ...any) {
	g.Helper()
	if _, err := g.conn.Exec(g.Context(), sql, args...); err != nil {
		g.Fatalf("%s: %v", sql, err)
	}
}

// listenToFence subscribes to a table whose changes mark the end of a step.
func (g *golden) listenToFence() {
	g.exec(`create table fence (id bigint generated always as identity primary key);
		alter publication supabase_realtime add table fence`)
	g.fence = make(chan struct{}, 1)
	_, err := g.s.Subscribe(g.Context(), Subscriber{Role: "service_role", Claims: service,
		Bindings: []Binding{{Schema: "public", Table: "fence", Event: "*"}},
		Deliver:  func(Change) { g.fence <- struct{}{} }})
	if err != nil {
		g.Fatal(err)
	}
}

// table makes a table with its subscribers, changes its rows and compares after each transaction.
func (g *golden) table(name string) {
	made := newGoldenTable(g.rand, name)
	g.exec(made.create())
	g.exec(`truncate realtime.subscription`)
	g.subs = nil
	for range 6 {
		g.subscribe(made)
	}
	for range 8 {
		sql := made.transaction(g.rand)
		if _, err := g.conn.Exec(g.Context(), sql); err != nil {
			g.exec(`rollback`)
			continue // such as a key that exists already
		}
		g.compare(made, sql)
	}
	for _, sub := range g.subs {
		g.s.Unsubscribe(sub.id)
	}
	g.exec(`drop table ` + name)
}

// subscribe adds a subscriber to both sides, which have to accept or refuse it alike.
func (g *golden) subscribe(made *goldenTable) {
	sub := made.subscriber(g.rand)
	parsed, err := parseFilters(sub.filter)
	if err != nil {
		g.Fatalf("%s: %v", sub.filter, err)
	}
	var filters []string
	for _, f := range parsed {
		filters = append(filters, fmt.Sprintf("row(%s, %s, %s, %t)::realtime.user_defined_filter", quoteLiteral(f.column),
			quoteLiteral(f.op), quoteLiteral(f.value), f.negate))
	}
	claims, err := json.Marshal(sub.claims)
	if err != nil {
		g.Fatal(err)
	}
	err = g.conn.QueryRow(g.Context(), `
		insert into realtime.subscription (subscription_id, entity, filters, claims, action_filter, selected_columns)
		values (gen_random_uuid(), $1::text::regclass, array[`+strings.Join(filters, ", ")+
		`]::realtime.user_defined_filter[], $2, $3, $4) returning subscription_id::text`,
		made.name, claims, sub.event, sub.selected).Scan(&sub.subscriptionID)
	id, ours := g.s.Subscribe(g.Context(), Subscriber{Role: sub.role, Claims: sub.claims, Deliver: sub.box.deliver,
		Bindings: []Binding{{ID: 1, Schema: "public", Table: made.name, Event: sub.event, Filter: sub.filter,
			Select: sub.selected}}})
	if (err == nil) != (ours == nil) {
		g.Errorf("%s: upstream says %v, we say %v\n%s", sub, err, ours, made.create())
		g.exec(`delete from realtime.subscription where subscription_id = $1`, sub.subscriptionID)
	}
	if ours == nil && err != nil {
		g.s.Unsubscribe(id)
	}
	if err != nil || ours != nil {
		return
	}
	sub.id = id
	g.accepted++
	g.subs = append(g.subs, sub)
}

// String shows a subscriber in errors.
func (sub *goldenSub) String() string {
	return fmt.Sprintf("%s %v, event %s, filter %q, select %q", sub.role, sub.claims["sub"], sub.event, sub.filter,
		sub.selected)
}

// compare compares what both sides send of the last transaction.
func (g *golden) compare(made *goldenTable, sql string) {
	g.exec(`insert into fence default values`)
	<-g.fence
	eventually(g.T, "the lanes are empty", func() bool { return g.s.lanes.waiting() == 0 })
	rows, err := g.conn.Query(g.Context(), `select wal, subscription_ids::text[], errors
		from realtime.list_changes('supabase_realtime', 'wal2json', 10000, $1)`, goldenLimit)
	if err != nil {
		g.Fatal(err)
	}
	theirs := map[string][]string{}
	var wal json.RawMessage
	var ids, errs []string
	if _, err := pgx.ForEachRow(rows, []any{&wal, &ids, &errs}, func() error {
		for _, id := range ids {
			theirs[id] = append(theirs[id], upstreamMessage(g.T, wal, errs))
		}
		g.changes++
		return nil
	}); err != nil {
		g.Errorf("%s\n%s: %v", made.create(), sql, err)
		g.exec(`select pg_replication_slot_advance('wal2json', pg_current_wal_flush_lsn())`)
		for _, sub := range g.subs {
			sub.box.take()
		}
		return
	}
	for _, sub := range g.subs {
		var ours []string
		for _, c := range sub.box.take() {
			ours = append(ours, canonical(g.T, c.Data))
			g.seen[c.Type]++
		}
		g.messages += len(ours)
		if diff := cmp.Diff(theirs[sub.subscriptionID], ours); diff != "" {
			g.Errorf("%s\n%s\n%s\nupstream and we (-, +): %s", made.create(), sql, sub, diff)
		}
	}
}

// upstreamMessage returns the message that upstream makes of a row of list_changes.
func upstreamMessage(t *testing.T, wal json.RawMessage, errs []string) string {
	members := parseMessage(t, wal)
	members["errors"] = nil
	if len(errs) > 0 {
		members["errors"] = errs
	}
	return showMessage(t, members)
}

// canonical returns a message of ours in the form of upstreamMessage.
func canonical(t *testing.T, data json.RawMessage) string {
	return showMessage(t, parseMessage(t, data))
}

func parseMessage(t *testing.T, data json.RawMessage) (members map[string]any) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return members
}

// showMessage returns a message as text. Members that are absent are those that upstream's program
// fills in: empty rows. Numbers are equal if their values are.
func showMessage(t *testing.T, members map[string]any) string {
	defaults := map[string]any{"columns": []any{}, "commit_timestamp": nil}
	switch members["type"] {
	case kindInsert:
		defaults["record"] = map[string]any{}
	case kindUpdate:
		defaults["record"], defaults["old_record"] = map[string]any{}, map[string]any{}
	case kindDelete:
		defaults["old_record"] = map[string]any{}
	}
	for name, value := range defaults {
		if members[name] == nil {
			members[name] = value
		}
	}
	text, err := json.MarshalIndent(exactNumbers(members), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// exactNumbers replaces the numbers in a value by fractions.
func exactNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = exactNumbers(member)
		}
	case []any:
		for i, member := range v {
			v[i] = exactNumbers(member)
		}
	case json.Number:
		if exact, ok := new(big.Rat).SetString(v.String()); ok {
			return "number " + exact.RatString()
		}
	}
	return value
}

func quoteLiteral(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
