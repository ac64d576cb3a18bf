package rest_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/rest"
)

const ordersSQL = `
create table api.customers (id int primary key, name text, city text);
insert into api.customers select i, 'customer ' || i, 'city ' || i % 50 from generate_series(1, 2000) i;
create table api.orders (id int primary key, customer_id int references api.customers, placed timestamptz default now(), note text, total numeric);
insert into api.orders select i, 1 + i % 2000, now() - i * interval '1 minute', 'note ' || i, i / 7.0 from generate_series(1, 20000) i;
create index on api.orders (customer_id);
create table api.lines (id int primary key, order_id int references api.orders, product text, n int);
insert into api.lines select i, 1 + i % 20000, 'thing ' || i, i % 9 from generate_series(1, 60000) i;
create index on api.lines (order_id);
create table api.tags (id int primary key, label text);
insert into api.tags select i, 'tag ' || i from generate_series(1, 100) i;
create table api.order_tags (order_id int references api.orders, tag_id int references api.tags, primary key (order_id, tag_id));
insert into api.order_tags select i, 1 + (i * 7 + k * 13) % 100 from generate_series(1, 20000) i, generate_series(0, 2) k;
create function api.last_orders(most int) returns setof api.orders language sql stable as $$ select * from api.orders order by id limit most $$;
grant select on all tables in schema api to anon, authenticated;`

// processorCases are the requests of BenchmarkProcessorTime.
var processorCases = []scenario{
	{name: "list", url: "/visits?select=id,place,day,note&order=day.desc&limit=25"},
	{name: "row", url: "/items?id=eq.77"},
	{name: "list-1000", url: "/items?order=id&limit=1000"},
	{name: "list-2000", url: "/items?order=id&limit=2000"},
	{name: "list-20000", url: "/items?order=id&limit=20000"},
	{name: "count-1000", url: "/items?order=id&limit=1000", header: "Prefer: count=exact"}, // one value
	{name: "to-one", url: "/orders?select=id,note,customers(id,name)&order=id&limit=100"},
	{name: "to-many", url: "/customers?select=id,name,orders(id,note,total)&order=id&limit=25"},
	{name: "many-to-many", url: "/orders?select=id,note,tags(id,label)&order=id&limit=25"},
	{name: "three-levels", url: "/customers?select=id,name,orders(id,note,lines(id,product,n))&order=id&limit=25"},
	{name: "limit-inside", url: "/customers?select=id,name,orders(id,note,total)&orders.order=placed.desc&orders.limit=3&order=id&limit=25"},
	{name: "call-500", url: "/rpc/last_orders?most=500"},
	{name: "insert", method: "POST", url: "/log", body: `{"text":"x"}`,
		header: "Content-Type: application/json\nPrefer: tx=commit"},
	{name: "insert-return", method: "POST", url: "/visits?select=id,owner",
		body:   `{"owner":"user7","place":"p","day":"2026-01-02"}`,
		header: "Content-Type: application/json\nPrefer: tx=commit, return=representation"},
}

// BenchmarkProcessorTime reports the processor time that Postgres and this process take for a
// request, without HTTP. Other work on the machine has little effect on it, in contrast to rates
// and latencies. Linux only.
func BenchmarkProcessorTime(b *testing.B) {
	base := open(b, nil)
	base.db.Exec(benchSQL)
	base.db.Exec(ordersSQL)
	base.db.ExecAs("supabase_admin", "analyze")
	base = openOn(b, base.db, func(c *rest.Config) { c.TxEnd = rest.TxEnd{} })
	for _, s := range processorCases {
		b.Run(s.name, func(b *testing.B) {
			s.as = `{"role":"authenticated","sub":"user7"}`
			serve := func() *httptest.ResponseRecorder {
				w := httptest.NewRecorder()
				base.engine.ServeHTTP(w, s.request(b))
				return w
			}
			for range 50 { // plans, also the generic ones
				if w := serve(); w.Code >= 300 {
					b.Fatal(w.Code, w.Body)
				}
			}
			made := processorTime(nil)
			for range 50 {
				s.request(b)
			}
			made = (processorTime(nil) - made) / 50
			pids := base.backends()
			before, own, requests := processorTime(pids), processorTime(nil), 0
			b.ResetTimer()
			for b.Loop() {
				serve()
				requests++
			}
			b.StopTimer()
			postgres, ours := processorTime(pids)-before, processorTime(nil)-own
			b.ReportMetric(float64(postgres.Nanoseconds())/float64(requests)/1000, "postgres-µs")
			b.ReportMetric(float64(ours.Nanoseconds())/float64(requests)/1000-float64(made.Nanoseconds())/1000,
				"engine-µs")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// backends returns the process ids of the connections to the harness's database.
func (b *harness) backends() (pids []int) {
	for text := range strings.SplitSeq(testdb.Value[string](b.db,
		`select coalesce(string_agg(pid::text, ','), '') from pg_stat_activity
		where datname = current_database() and backend_type = 'client backend'`), ",") {
		if pid, err := strconv.Atoi(text); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// processorTime returns the processor time of processes, and of this process if pids is nil.
func processorTime(pids []int) (total time.Duration) {
	if pids == nil {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for _, pid := range pids {
		// the first number is nanoseconds on a processor
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		if err != nil {
			continue // the connection has ended
		}
		n, _, _ := strings.Cut(string(text), " ")
		ns, _ := strconv.ParseInt(n, 10, 64) // the kernel writes a number
		total += time.Duration(ns)
	}
	return total
}
