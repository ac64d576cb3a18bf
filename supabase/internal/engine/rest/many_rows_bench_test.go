package rest_test

import (
	"strconv"
	"testing"
)

// BenchmarkManyRows reads results of more rows than Postgres returns as one value. The bound is the
// same rows as one value through pgx.
func BenchmarkManyRows(b *testing.B) {
	for _, rows := range []int{1000, 2000, 20000} {
		b.Run(strconv.Itoa(rows), func(b *testing.B) {
			a := newServers(b)
			path := "/items?select=id,name,price,added&order=id&limit=" + strconv.Itoa(rows)
			a.compare(b, "GET", same(path), "",
				`select coalesce(json_agg(t), '[]') from (select id, name, price, added from api.items order by id limit $1) t`, func(int) []any { return []any{rows} }).ofBound()
			a.reportCosts(b, scenario{url: path})
		})
	}
}
