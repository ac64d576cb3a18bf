package storage

import (
	"bytes"
	"testing"
)

// TestRowLevelSecurity checks that every operation obeys the policies and that no reply reveals
// another user's object.
func TestRowLevelSecurity(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("homes", false)
	s.db.Exec(`
		create policy read_own on storage.objects for select to authenticated using (owner_id = auth.jwt() ->> 'sub');
		create policy write_own on storage.objects for insert to authenticated
			with check (bucket_id = 'homes' and storage.foldername(name) = array[auth.jwt() ->> 'sub'] and storage.extension(name) = 'txt');
		create policy change_own on storage.objects for update to authenticated using (owner_id = auth.jwt() ->> 'sub');
		create policy delete_own on storage.objects for delete to authenticated
			using (owner_id = auth.jwt() ->> 'sub' and storage.allow_any_operation(array['object.delete', 'object.delete_many']))`)
	const alice, bob = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	a, b := s.user(alice), s.user(bob)
	s.do(a, "POST", "/object/homes/"+alice+"/diary.txt", "dear diary", "Content-Type", "text/plain").want(t, 200, "Key")
	s.do(a, "POST", "/object/homes/"+alice+"/diary.exe", "x").want(t, 400, "row-level security")
	s.do(b, "POST", "/object/homes/"+alice+"/other.txt", "x").want(t, 400, "row-level security")

	path := "homes/" + alice + "/diary.txt"
	for name, r := range map[string]reply{
		"download": s.do(b, "GET", "/object/authenticated/"+path, nil),
		"info":     s.do(b, "GET", "/object/info/"+path, nil),
		"head":     s.do(b, "HEAD", "/object/"+path, nil),
		"sign":     s.do(b, "POST", "/object/sign/"+path, map[string]any{"expiresIn": 60}),
		"sign many": s.do(b, "POST", "/object/sign/homes",
			map[string]any{"expiresIn": 60, "paths": []string{alice + "/diary.txt"}}),
		"list":    s.do(b, "POST", "/object/list/homes", map[string]any{"prefix": alice}),
		"list v2": s.do(b, "POST", "/object/list-v2/homes", map[string]any{"prefix": ""}),
		"render":  s.do(b, "GET", "/render/image/authenticated/"+path, nil),
		"copy": s.do(b, "POST", "/object/copy", map[string]any{"bucketId": "homes", "sourceKey": alice +
			"/diary.txt", "destinationKey": bob + "/stolen.txt"}),
		"move": s.do(b, "POST", "/object/move", map[string]any{"bucketId": "homes", "sourceKey": alice +
			"/diary.txt", "destinationKey": bob + "/stolen.txt"}),
		"overwrite":  s.do(b, "PUT", "/object/"+path, "x"),
		"delete":     s.do(b, "DELETE", "/object/"+path, nil),
		"delete all": s.do(b, "DELETE", "/object/homes", map[string]any{"prefixes": []string{alice + "/diary.txt"}}),
		"anonymous":  s.do("", "GET", "/object/"+path, nil),
		"bucket":     s.do(b, "GET", "/bucket/homes", nil),
		"buckets":    s.do(b, "GET", "/bucket", nil),
	} {
		if bytes.Contains(r.body, []byte("dear diary")) || bytes.Contains(r.body, []byte(`"name":"diary.txt"`)) ||
			bytes.Contains(r.body, []byte("?token=")) ||
			bytes.Contains(r.body, []byte("file_size_limit")) {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
	}
	s.do(a, "GET", "/object/"+path, nil).want(t, 200, "dear diary")
	s.do(a, "POST", "/object/list/homes", map[string]any{"prefix": alice}).want(t, 200, `"name":"diary.txt"`)
	s.do(a, "DELETE", "/object/"+path, nil).want(t, 200, "Successfully deleted")
}
