package acceptance

import (
	"testing"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// TestImportOfResources copies a table with the fields of the specification, with colours and
// addresses that this site did not make, and reads it as a visitor.
func TestImportOfResources(t *testing.T) {
	tdb := newDatabase(t)
	tdb.Exec(`
		create schema old;
		create table old.resources (id uuid primary key, title text not null, description text not null, category text not null, icon_name text,
			color_class text not null, file_url text not null, file_size bigint not null, file_type text not null, download_count int not null,
			is_active boolean not null, is_featured boolean not null, created_at timestamptz not null);
		insert into old.resources values
			('00000000-0000-4000-8000-000000000001', 'Labels', 'How to read one', 'Safety', 'Shield', 'text-blue-600 bg-blue-50',
				'https://files.example.org/storage/v1/object/public/resources/labels.pdf?token=a%20b', 245760, 'application/pdf', 41, true, true, '2024-01-05'),
			('00000000-0000-4000-8000-000000000002', 'Poster', '', 'Community', 'mortar-pestle', '', 'posters/poster one.png', 0, 'image/png', 0, true, false, '2024-01-04'),
			('00000000-0000-4000-8000-000000000003', 'Soon', '', 'Safety', 'Baby', 'bg-[#fff]', '#', 0, 'application/pdf', 0, true, false, '2024-01-03')`)
	tdb.Exec(`
		insert into public.resources (id, title, description, category, icon_name, color_class, file_url, file_size, file_type, download_count,
			is_active, is_featured, created_at)
		select id, title, description, category, icon_name, color_class, file_url, file_size, file_type, download_count,
			is_active, is_featured, created_at from old.resources`)

	const columns = `select jsonb_agg(to_jsonb(r) order by created_at desc)::text from (select id, title, description, category, icon_name, color_class,
		file_url, file_size, file_type, download_count, is_active, is_featured, created_at from `
	db, err := pool.Open(t.Context(), pool.Config{URL: tdb.URL("authenticator")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var seen string
	err = db.Tx(t.Context(), pool.Caller{Role: "anon"}, pgx.TxOptions{}, func(tx pgx.Tx) error {
		return tx.QueryRow(t.Context(), columns+`public.resources where is_active) r`).Scan(&seen)
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := testdb.Value[string](tdb, columns+`old.resources) r`); seen != want {
		t.Errorf("a visitor sees\n%s\nimported were\n%s", seen, want)
	}
}
