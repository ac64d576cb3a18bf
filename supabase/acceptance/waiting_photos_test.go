package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daawo/supabase/internal/database/testdb"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// photoWriter returns a function that adds a photo as storage does for a client with this address.
func (s *site) photoWriter(t *testing.T) func(name, address, metadata string, size int) error {
	conn := s.db.Conn("supabase_storage_admin")
	return func(name, address, metadata string, size int) error {
		return pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(),
				`select set_config('request.headers', jsonb_build_object('x-forwarded-for', $1::text)::text, true)`,
				address)
			if err != nil {
				return err
			}
			_, err = tx.Exec(t.Context(), `
insert into storage.objects (bucket_id, name, metadata, user_metadata)
values ('report-photos', $1, jsonb_build_object('size', $2::bigint), nullif($3, '')::jsonb)`, name, size, metadata)
			return err
		})
	}
}

// callFrom is call for a client with this address.
func (s *site) callFrom(address, name string, body any, header map[string]string) *httptest.ResponseRecorder {
	text, _ := json.Marshal(body)
	r := httptest.NewRequest(http.MethodPost, "/"+name, bytes.NewReader(text))
	r.RemoteAddr = address + ":1"
	r.Header.Set("Content-Type", "application/json")
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// TestPhotoClaims checks that a photo is attached only to the report of its uploader: by the token,
// or without one by the network.
func TestPhotoClaims(t *testing.T) {
	s := newSite(t)
	waitingPhoto := s.photoWriter(t)
	for i, c := range []struct {
		claim, token, from string // of the photo; of the report; address of the report
		kept               bool
	}{
		{`{"claim":"right"}`, "right", "198.51.100.9", true},
		{`{"claim":"right"}`, "wrong", "203.0.113.7", false},
		{`{"claim":"right"}`, "", "203.0.113.7", false},
		{"", "", "203.0.113.7", true},
		{"", "", "198.51.100.9", false},
		{"", "any", "198.51.100.9", false},
	} {
		name := fmt.Sprintf("17000000000%02d.jpg", i)
		if err := waitingPhoto(name, "203.0.113.7", c.claim, 100); err != nil {
			t.Fatal(err)
		}
		w := s.callFrom(c.from, "submit-report", report(map[string]any{"photo_url": name}),
			map[string]string{"Photo-Claim": c.token})
		saved := decode[receipt](t, w, http.StatusOK)
		if kept := saved.PhotoAttached == nil; kept != c.kept {
			t.Errorf("%+v: attached %v", c, kept)
		}
		waits := testdb.Value[bool](s.db, `select exists (select from private.waiting_photos where name = $1)`, name)
		if waits == c.kept {
			t.Errorf("%+v: the photo waits: %v", c, waits)
		}
	}
	// Two photos with one name: each report gets the photo of its token.
	for name, claim := range map[string]string{"1800000000000.jpg": "one", "1800000000000-abcdefghij23.jpg": "two"} {
		if err := waitingPhoto(name, "203.0.113.7", `{"claim":"`+claim+`"}`, 100); err != nil {
			t.Fatal(err)
		}
	}
	w := s.callFrom("203.0.113.7", "submit-report", report(map[string]any{"photo_url": "1800000000000.jpg"}),
		map[string]string{"Photo-Claim": "two"})
	saved := decode[receipt](t, w, http.StatusOK)
	if got := testdb.Value[string](s.db, `select photo_url from reports where id = $1`,
		saved.ID); got != "1800000000000-abcdefghij23.jpg" {
		t.Errorf("the report has %s", got)
	}
}

// TestWaitingPhotosAreBounded checks the limits by number and by bytes: for one client, and so that
// others still find space.
func TestWaitingPhotosAreBounded(t *testing.T) {
	s := newSite(t)
	waitingPhoto := s.photoWriter(t)
	fill := func(address, prefix string, size int) (stored int) {
		for ; stored < 6000; stored++ {
			if err := waitingPhoto(fmt.Sprintf("%s%09d", prefix, stored), address, "", size); err != nil {
				if !strings.Contains(err.Error(), "53300") {
					t.Fatal(err)
				}
				break
			}
		}
		return stored
	}
	if n := fill("203.0.113.7", "1700", 70); n != 1000 {
		t.Errorf("a client may store %d small photos, want 1000", n)
	}
	if n := fill("203.0.113.8", "1701", 5<<20); n != 19 {
		t.Errorf("a client may store %d large photos, want 19", n)
	}
	if n := fill("203.0.113.9", "1702", 5<<20); n < 10 {
		t.Errorf("a third client may store %d large photos", n)
	}
	check := func(when string) {
		t.Helper()
		const sums = `
select coalesce(string_agg(format('%s %s %s', t.photos, t.bytes, w), ';' order by t.client), '')
  from private.waiting_photo_totals as t
  join lateral (select count(*) || ' ' || coalesce(sum(bytes), 0) as w from private.waiting_photos as w where t.client = 'all' or t.client = any (w.networks)) as w on true
 where format('%s %s', t.photos, t.bytes) <> w`
		if wrong := testdb.Value[string](s.db, sums); wrong != "" {
			t.Errorf("%s the sums are wrong: %s", when, wrong)
		}
	}
	check("after the uploads")
	s.db.ExecAs("supabase_storage_admin",
		`select set_config('storage.allow_delete_query', 'true', false); delete from storage.objects where name like '1701%'`)
	check("after deletions")
	s.db.Exec(`insert into reports (product_name, issue_description, photo_url) select 'a', 'b', name from private.waiting_photos limit 10`)
	check("after reports")
	s.db.Exec(`delete from private.waiting_photo_totals; select private.recount_waiting_photos()`)
	check("after a recount")
	if n := testdb.Value[int](s.db, `select photos from private.waiting_photo_totals where client = 'all'`); n < 1000 {
		t.Errorf("%d photos wait", n)
	}
	home := 0 // the photos of one home line, a /56 with 256 networks
	for i := range 8 {
		home += fill(fmt.Sprintf("2001:db8:0:%x::1", i), fmt.Sprintf("18%02d", i), 70)
	}
	if home > 1000 || home < 500 {
		t.Errorf("a home line may store %d small photos", home)
	}
	if n := fill("2001:db9::1", "1900", 70); n < 400 {
		t.Errorf("the next home may store %d small photos", n)
	}
	check("after the uploads of two homes")
	// The check of an upload reads the sums alone, however many photos there are.
	if testdb.Value[bool](s.db,
		`select bool_or(prosrc ~ 'storage\.objects|waiting_photos ') from pg_proc where proname in ('may_upload_report_photo', 'count_waiting_photo')`) {
		t.Error("an upload reads the list of photos")
	}
}

// TestNewcomerTakesPlaceOfLargestNetwork checks that a visitor finds a place while others hold all:
// the oldest photo of the network with the most loses its own, and the function prune removes it.
func TestNewcomerTakesPlaceOfLargestNetwork(t *testing.T) {
	s := newSite(t)
	waitingPhoto := s.photoWriter(t)
	// The holder has 3,000 places, its /48 all together 4,000, and another network 1,000.
	for i, address := range []string{"2001:db8:1::1", "2001:db8:1:2::1", "2001:db8:2::1"} {
		if err := waitingPhoto(fmt.Sprintf("170000000000%d.jpg", i), address, "", 70); err != nil {
			t.Fatal(err)
		}
	}
	const fill = `
insert into private.waiting_photos (name, sent_as, bytes, client, networks, created_at)
select w.name || n, w.name || n, 70, w.client, w.networks, w.created_at - interval '1 hour' - n * interval '1 second'
  from private.waiting_photos as w, generate_series(1, case w.name when '1700000000000.jpg' then 2999 else 999 end) as n;
delete from private.waiting_photo_totals;
insert into private.waiting_photo_totals (client, photos, bytes)
select 'all', count(*), sum(bytes)::bigint from private.waiting_photos
union all select n.name, count(*), sum(w.bytes)::bigint from private.waiting_photos as w, unnest(w.networks) as n (name) group by n.name;`
	s.db.Exec(`set daawo.recount = 'on';` + fill)
	count := func(where string) int {
		return testdb.Value[int](s.db, `select count(*) from private.waiting_photos where `+where)
	}
	if err := waitingPhoto("1800000000000.jpg", "2001:db8:3::1", "", 70); err != nil {
		t.Fatal("a newcomer finds no place:", err)
	}
	if n := count(`evicted and name = '1700000000000.jpg2999'`); n != 1 || count(`evicted`) != 1 {
		t.Errorf("the oldest photo of the largest network lost its place: %d", n)
	}
	if n := testdb.Value[int](s.db, `select photos from private.waiting_photo_totals where client = 'all'`); n != 5000 {
		t.Errorf("%d photos have a place", n)
	}
	if err := waitingPhoto("1800000000001.jpg", "2001:db8:1:9::1", "", 70); err == nil {
		t.Error("another link of the largest network takes a place")
	}
	if err := waitingPhoto("1800000000002.jpg", "2001:db8:2::2", "", 70); err == nil {
		t.Error("a network with a fifth of all places takes more")
	}
	if err := waitingPhoto("1800000000003.jpg", "2001:db8:3::1", "", 1<<20); err != nil || count(`evicted`) != 13 {
		t.Errorf("a photo of twelve places: %v, %d lost theirs", err, count(`evicted`))
	}
	if got := testdb.Value[string](s.db, `select coalesce(private.photo_for('1700000000000.jpg2999', null, ''), 'none')`); got != "none" {
		t.Errorf("a report takes the photo %s, which is being removed", got)
	}
}

// TestPhotoNamesAreHidden checks with the running program that a visitor cannot find out which
// names exist, and that the report of each uploader gets its own photo.
func TestPhotoNamesAreHidden(t *testing.T) {
	info := start(t, newApp(t, dataFolder(t), nil))
	api, anon := info.Get("API_URL"), info.Get("PUBLISHABLE_KEY")
	const used, free = "1700000000000.png", "1700000000001.png"
	upload := func(method, path, claim string, headers ...string) string {
		headers = append(headers, "apikey", anon, "Content-Type", "image/png", "X-Metadata", claim)
		status, body := call(t, method, api+"/storage/v1/"+path, onePixel, headers...)
		if status < 300 {
			var reply struct{ Id, Key string }
			if err := json.Unmarshal([]byte(body), &reply); err != nil || uuid.Validate(reply.Id) != nil {
				t.Errorf("%s: %s", path, body)
			}
			body = strings.ReplaceAll(body, reply.Id, "ID")
		}
		return fmt.Sprint(status, " ", body)
	}
	first := upload("POST", "object/report-photos/"+used, "eyJjbGFpbSI6ImZpcnN0In0=") // {"claim":"first"}
	if !strings.HasPrefix(first, "200") {
		t.Fatal(first)
	}
	for what, probe := range map[string]func(name string) string{
		"upsert": func(name string) string {
			return upload("POST", "object/report-photos/"+name, "", "X-Upsert",
				"true")
		},
		"update": func(name string) string { return upload("PUT", "object/report-photos/"+name, "") },
		"signed": func(name string) string { return upload("POST", "object/upload/sign/report-photos/"+name, "") },
		"read":   func(name string) string { return upload("GET", "object/report-photos/"+name, "") },
		"info":   func(name string) string { return upload("GET", "object/info/report-photos/"+name, "") },
		"list": func(name string) string {
			_, body := call(t, "POST", api+"/storage/v1/object/list/report-photos", `{"prefix":"`+name+`"}`, "apikey",
				anon, "Content-Type", "application/json")
			return body
		},
		"delete many": func(name string) string {
			_, body := call(t, "DELETE", api+"/storage/v1/object/report-photos", `{"prefixes":["`+name+`"]}`, "apikey",
				anon, "Content-Type", "application/json")
			return body
		},
		"copy": func(name string) string {
			_, body := call(t, "POST", api+"/storage/v1/object/copy", `{"bucketId":"report-photos","sourceKey":"`+name+
				`","destinationKey":"1500000000000.png"}`,
				"apikey", anon, "Content-Type", "application/json")
			return body
		},
		"sign": func(name string) string {
			_, body := call(t, "POST", api+"/storage/v1/object/sign/report-photos/"+name, `{"expiresIn":60}`, "apikey",
				anon, "Content-Type", "application/json")
			return body
		},
		"S3 with a visitor's token": func(name string) string {
			return upload("DELETE", "s3/report-photos/"+name, "", "X-Amz-Security-Token", anon)
		},
		"delete": func(name string) string { return upload("DELETE", "object/report-photos/"+name, "") },
		"upload": func(name string) string {
			return upload("POST", "object/report-photos/"+name, "eyJjbGFpbSI6InNlY29uZCJ9")
		},
	} {
		taken, absent := probe(used), probe("1600000000000.png")
		if strings.ReplaceAll(taken, used, free) != strings.ReplaceAll(absent, "1600000000000.png", free) {
			t.Errorf("%s tells: %s for a taken name, %s for a free one", what, taken, absent)
		}
	}
	names := map[string]bool{}
	for _, token := range []string{"first", "second"} {
		report := fmt.Sprintf(`{"product_name":"Cream %s","issue_description":"It burns","photo_url":%q}`, token, used)
		status, body := call(t, "POST", api+"/functions/v1/submit-report", report, "apikey", anon, "Content-Type",
			"application/json", "Photo-Claim", token)
		if status != 200 || strings.Contains(body, "photo_attached") {
			t.Errorf("the report with token %s: %d %s", token, status, body)
		}
		_, body = call(t, "GET", api+"/rest/v1/reports?select=photo_url&product_name=eq.Cream%20"+token, "", "apikey",
			info.Get("SECRET_KEY"))
		names[body] = true
	}
	if len(names) != 2 || !names[`[{"photo_url":"`+used+`"}]`] {
		t.Errorf("the reports have the photos %v", names)
	}
}
