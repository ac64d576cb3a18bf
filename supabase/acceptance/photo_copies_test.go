package acceptance

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/minio/minio-go/v7/pkg/signer"
)

// TestPhotosAreNotCopied checks that no way of the storage API puts the photo of an opened report
// where a stranger can read it: neither a reviewer, nor an owner, nor a service_role key.
func TestPhotosAreNotCopied(t *testing.T) {
	s := startStaffStack(t)
	const photo = "1700000000001.png"
	api, secret := s.Get("API_URL"), s.Get("SECRET_KEY")
	if status, body := call(t, "POST", api+"/storage/v1/object/report-photos/"+photo, onePixel, "apikey", secret,
		"Content-Type", "image/png"); status != 200 {
		t.Fatal(status, body)
	}
	s.exec(t, `update reports set photo_url = '`+photo+`' where reference = 'DW-0000-0001'`)
	for _, c := range staffCallers {
		token := s.token(c.claims)
		if c.name != "reviewer" && c.name != "owner" {
			continue
		}
		call(t, "POST", api+"/rest/v1/rpc/read_report", `{"name":"DW-0000-0001"}`, "apikey", s.Get("PUBLISHABLE_KEY"),
			"Authorization", "Bearer "+token, "Content-Type", "application/json")
		if status, body := call(t, "GET", api+"/storage/v1/object/report-photos/"+photo, "", "apikey",
			s.Get("PUBLISHABLE_KEY"), "Authorization", "Bearer "+token); status != 200 || body == "" {
			t.Errorf("%s does not see the photo of the opened report: %d %s", c.name, status, body)
		}
		s.tryCopies(t, c.name, photo, []string{"apikey", s.Get("PUBLISHABLE_KEY"), "Authorization", "Bearer " + token},
			[3]string{"daawo", s.Get("ANON_KEY"), token})
	}
	s.tryCopies(t, "service_role", photo, []string{"apikey", secret},
		[3]string{s.Get("S3_PROTOCOL_ACCESS_KEY_ID"), s.Get("S3_PROTOCOL_ACCESS_KEY_SECRET"), ""})
	for _, statement := range []string{
		`update storage.buckets set public = true where id = 'report-photos'`,
		`insert into storage.buckets (id, name, public) values ('report-photos', 'report-photos', true)`,
	} {
		var refusal *pgconn.PgError
		_, err := s.root.Exec(t.Context(), statement)
		if !errors.As(err, &refusal) || refusal.Code != "23514" {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// tryCopies sends every request that could copy or move the photo, and checks that none leaves
// another object. s3 has the access key, the secret and the session token.
func (s staffStack) tryCopies(t *testing.T, caller, photo string, headers []string, s3 [3]string) {
	t.Helper()
	storage := s.Get("API_URL") + "/storage/v1/"
	count := `select count(*) from storage.objects where bucket_id <> 'resources' or metadata ->> 'mimetype' = 'image/png'`
	before, made := s.count(t, count), 0
	for what, r := range map[string][3]string{
		"copy": {"POST", "object/copy", `{"bucketId":"report-photos","sourceKey":"PHOTO",` +
			`"destinationBucket":"resources","destinationKey":"N.png"}`},
		"copy of a list": {"POST", "object/copy", `{"bucketId":["report-photos"],"sourceKey":"PHOTO",` +
			`"destinationBucket":"resources","destinationKey":"N.png"}`},
		"copy in the bucket": {"POST", "object/copy", `{"bucketId":"report-photos","sourceKey":"PHOTO",` +
			`"destinationKey":"17N.png"}`},
		"move": {"POST", "object/move", `{"bucketId":"report-photos","sourceKey":"PHOTO",` +
			`"destinationBucket":"resources","destinationKey":"N.png"}`},
		"move in the bucket": {"POST", "object/move", `{"bucketId":"report-photos","sourceKey":"PHOTO",` +
			`"destinationKey":"17N.png"}`},
		"public bucket": {"PUT", "bucket/report-photos", `{"public":true}`},
	} {
		made++
		body := strings.NewReplacer("PHOTO", photo, "17N", fmt.Sprint(1800000000000+made), "N.", fmt.Sprint(caller, made, ".")).Replace(r[2])
		status, reply := call(t, r[0], storage+r[1], body, append(headers, "Content-Type", "application/json")...)
		if status < 400 {
			t.Errorf("%s, %s: %d %s", caller, what, status, reply)
		}
	}
	for i, source := range []string{"report-photos/" + photo, "/report-photos/" + photo, "%72eport-photos%2F" + photo} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, fmt.Sprint(storage, "s3/resources/", caller, i, "-s3.png"), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Copy-Source", source)
		r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
		res, err := http.DefaultClient.Do(signer.SignV4(*r, s3[0], s3[1], s3[2], "local"))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode < 400 {
			t.Errorf("%s, S3 copy of %s: %d", caller, source, res.StatusCode)
		}
	}
	if after := s.count(t, count); after != before {
		t.Errorf("%s: %d objects, before %d", caller, after, before)
	}
}

func (s staffStack) count(t *testing.T, sql string) (n int) {
	t.Helper()
	if err := s.root.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
