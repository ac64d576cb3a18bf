package storage

import (
	"testing"

	"daawo/supabase/internal/database/testdb"
)

// TestSQLFunctions compares the functions for policies with storage-api's: their language,
// volatility and results.
func TestSQLFunctions(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	conn := db.Conn("supabase_admin")
	for name, want := range map[string]string{"foldername": "plpgsql i", "filename": "plpgsql i",
		"extension": "plpgsql i", "operation": "plpgsql s", "get_size_by_bucket": "plpgsql s"} {
		var got string
		if err := conn.QueryRow(t.Context(), `
			select l.lanname || ' ' || p.provolatile::text from pg_proc p join pg_language l on l.oid = p.prolang
			 where p.pronamespace = 'storage'::regnamespace and p.proname = $1`, name).Scan(&got); err != nil ||
			got != want {
			t.Errorf("%s is %s, %v, want %s", name, got, err, want)
		}
	}
	for _, tt := range []struct{ name, folder, file, extension string }{
		{"a/b/c.tar.gz", "{a,b}", "c.tar.gz", "gz"},
		{"c.png", "{}", "c.png", "png"},
		{"plain", "{}", "plain", "plain"},
		{"a//b/", `{a,"",b}`, "", ""},
		{".hidden", "{}", ".hidden", "hidden"},
		{"", "null", "null", "null"},
	} {
		var folder, file, extension string
		if err := conn.QueryRow(t.Context(), `
			select coalesce(storage.foldername($1)::text, 'null'), coalesce(storage.filename($1), 'null'), coalesce(storage.extension($1), 'null')`,
			tt.name).Scan(&folder, &file, &extension); err != nil {
			t.Fatal(err)
		}
		if folder != tt.folder || file != tt.file || extension != tt.extension {
			t.Errorf("%q: %s %s %s, want %s %s %s", tt.name, folder, file, extension, tt.folder, tt.file, tt.extension)
		}
	}
	db.ExecAs("supabase_admin", `
		insert into storage.buckets (id, name) values ('b', 'b');
		insert into storage.objects (bucket_id, name, metadata) values ('b', 'x', '{"size": 3000000000}'), ('b', 'y', '{"size": 1}')`)
	var size int64
	var bucket, operation string
	if err := conn.QueryRow(t.Context(), `select size, bucket_id from storage.get_size_by_bucket()`).Scan(&size,
		&bucket); err != nil || size != 3000000001 || bucket != "b" {
		t.Errorf("%d bytes in %s, %v", size, bucket, err)
	}
	if err := conn.QueryRow(t.Context(), `
		select storage.operation() from set_config('storage.operation', 'storage.object.list', false)`).Scan(&operation); err != nil || operation != "storage.object.list" {
		t.Errorf("operation %q, %v", operation, err)
	}
}
