package admin

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// newDesk is a desk at a site of its own, with a storage service that records what is asked of it.
func newDesk(t *testing.T) (*Desk, *testdb.DB, *[]string) {
	t.Helper()
	var asked []string
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.Path+" "+string(body))
		_, _ = io.WriteString(w, `{"signedURL":"/object/sign/report-photos/x?token=t"}`)
	}))
	t.Cleanup(storage.Close)
	tdb := testdb.NewSite(t)
	d, err := Open(t.Context(), Place{Database: tdb.URL("postgres"), API: storage.URL, Public: "https://example.org", Key: "key"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d, tdb, &asked
}

func TestReportsAreListedChangedAndDeleted(t *testing.T) {
	d, tdb, asked := newDesk(t)
	tdb.Exec(`
		insert into reports (reference, product_name, issue_description, region, photo_url, status, created_at) values
			('DW-0000-0001', 'A', 'x', 'Bari', '1700000000000.jpg', 'new', now() - interval '1 hour'),
			('DW-0000-0002', 'B', 'x', null, null, 'closed', now()),
			('DW-0000-0003', 'C', 'x', null, null, 'new', now() - interval '10 days')`)
	references := func(f Filter) string {
		t.Helper()
		found, err := d.Reports(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range found {
			names = append(names, r.ProductName)
		}
		return strings.Join(names, "")
	}
	for want, f := range map[string]Filter{
		"BAC": {}, "AC": {Status: "new"}, "BA": {Since: time.Now().Add(-24 * time.Hour)}, "A": {Region: "bari"}, "B": {Limit: 1},
	} {
		if got := references(f); got != want {
			t.Errorf("%+v: %s, want %s", f, got, want)
		}
	}
	if _, err := d.Reports(t.Context(), Filter{Status: "done"}); err == nil || !strings.Contains(err.Error(), "reviewing") {
		t.Errorf("an unknown status: %v", err)
	}

	status, notes := "reviewing", "called the shop"
	r, err := d.SetReport(t.Context(), "dw 0000 ooo1", &status, &notes) // as read over the telephone
	if err != nil || r.Status != status || *r.ReviewerNotes != notes {
		t.Fatalf("%+v %v", r, err)
	}
	if r, err = d.SetReport(t.Context(), r.ID, nil, nil); err != nil || r.Status != status || *r.ReviewerNotes != notes {
		t.Errorf("nothing to change changed something: %+v %v", r, err)
	}
	if link, err := d.PhotoLink(t.Context(), r); err != nil || link != "https://example.org/storage/v1/object/sign/report-photos/x?token=t" {
		t.Errorf("%s %v", link, err)
	}
	if _, err := d.DeleteReport(t.Context(), r.Reference); err != nil {
		t.Fatal(err)
	}
	if last := (*asked)[len(*asked)-1]; last != `DELETE /storage/v1/object/report-photos {"prefixes":["1700000000000.jpg"]}` {
		t.Errorf("the photo stays: %s", last)
	}
	if _, err := d.Report(t.Context(), r.Reference); !errors.Is(err, ErrNotFound) {
		t.Errorf("a deleted report: %v", err)
	}
}

func TestNormalReference(t *testing.T) {
	for in, want := range map[string]string{
		"DW-7K3M-9QXA": "DW-7K3M-9QXA", "dw7k3m9qxa": "DW-7K3M-9QXA", "7k3m 9qxa": "DW-7K3M-9QXA", "DW-OIL0-0000": "DW-0110-0000",
		"DWDW-DWDW": "DW-DWDW-DWDW", "": "", "x": "X",
	} {
		if got := NormalReference(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCSVHoldsNoFormula(t *testing.T) {
	var b strings.Builder
	phone := "+252612345678"
	if err := WriteCSV(&b, []Report{{Reference: "DW-0000-0001", ProductName: `=cmd|' /C calc'!A0`, IssueDescription: "two\nlines, \"quoted\"", Phone: &phone}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`,'=cmd|`, `"two` + "\n" + `lines, ""quoted"""`, `,'+252612345678,`, "reference,received_at"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
}

func TestResourcesAreAddedEditedAndPublished(t *testing.T) {
	d, _, asked := newDesk(t)
	file := filepath.Join(t.TempDir(), "a guide.pdf")
	if err := os.WriteFile(file, []byte("%PDF-1.7"), 0o600); err != nil {
		t.Fatal(err)
	}
	id, err := d.AddResource(t.Context(), map[string]string{"title": "A", "category": "Safety", "icon": "Shield", "featured": "true"}, file)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.EditResource(t.Context(), id, map[string]string{"title": "It's B", "title-so": "S", "featured": "false"}, ""); err != nil {
		t.Fatal(err)
	}
	list, err := d.Resources(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	r := list[0]
	if r.Title != "It's B" || r.IsActive || r.IsFeatured || r.FileSize != 8 || r.FileURL != "/storage/v1/object/public/resources/a%20guide.pdf" {
		t.Errorf("%+v", r)
	}
	if (*asked)[0] != "PUT /storage/v1/object/resources/a guide.pdf %PDF-1.7" {
		t.Errorf("%v", *asked)
	}
	if err := d.PublishResource(t.Context(), id, true); err != nil {
		t.Error(err)
	}
	if list, _ := d.Resources(t.Context()); !list[0].IsActive {
		t.Error("it is not shown")
	}
	for what, err := range map[string]error{
		"an unknown id":     d.PublishResource(t.Context(), "5eed0000-0000-4000-8000-000000000000", true),
		"an unknown value":  d.EditResource(t.Context(), id, map[string]string{"is_active": "true"}, ""),
		"an unknown colour": d.EditResource(t.Context(), id, map[string]string{"color": "red"}, ""),
		"a script":          d.EditResource(t.Context(), id, map[string]string{"file-url": "javascript:alert(1)"}, ""),
		"a foreign origin":  d.EditResource(t.Context(), id, map[string]string{"file-url": "//example.org/x"}, ""),
		"a program":         d.EditResource(t.Context(), id, nil, "/bin/true"),
	} {
		if err == nil {
			t.Errorf("%s was taken", what)
		}
	}
}

// TestAResourceIsAddedWholeOrNotAtAll: what cannot be stored leaves no row behind, nor does it replace a file that is offered.
func TestAResourceIsAddedWholeOrNotAtAll(t *testing.T) {
	d, _, asked := newDesk(t)
	file := filepath.Join(t.TempDir(), "guide.pdf")
	if err := os.WriteFile(file, []byte("%PDF-1.7"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		values map[string]string
		file   string
	}{
		"an unknown icon":  {map[string]string{"icon": "Bogus"}, file},
		"an unknown value": {map[string]string{"is_active": "true"}, file},
		"no such file":     {nil, file + "x.pdf"},
		"a program":        {nil, "/bin/true"},
	} {
		values := map[string]string{"title": "A", "category": "B"}
		maps.Copy(values, c.values)
		if _, err := d.AddResource(t.Context(), values, c.file); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	api := d.API
	d.API = "http://127.0.0.1:1"
	if _, err := d.AddResource(t.Context(), map[string]string{"title": "A", "category": "B"}, file); err == nil {
		t.Error("a file was taken without a storage service")
	}
	d.API = api
	if list, err := d.Resources(t.Context()); err != nil || len(list) != 0 || len(*asked) != 0 {
		t.Fatalf("what failed left %+v, uploaded %v, %v", list, *asked, err)
	}
	id, err := d.AddResource(t.Context(), map[string]string{"title": "A", "category": "B"}, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"an unknown icon": d.EditResource(t.Context(), id, map[string]string{"icon": "Bogus"}, file),
		"an unknown id":   d.EditResource(t.Context(), "5eed0000-0000-4000-8000-000000000000", nil, file),
	} {
		if err == nil || len(*asked) != 0 {
			t.Errorf("%s: %v, uploaded %v", name, err, *asked)
		}
	}
}

// TestATextOfAResourceIsEmptied: also the one that is never absent.
func TestATextOfAResourceIsEmptied(t *testing.T) {
	d, tdb, _ := newDesk(t)
	full := map[string]string{"title": "A", "category": "B", "description": "x", "title-so": "x", "description-so": "x", "category-so": "x", "icon": "Shield"}
	id, err := d.AddResource(t.Context(), full, "")
	if err != nil {
		t.Fatal(err)
	}
	empty := map[string]string{"description": "", "title-so": "", "description-so": "", "category-so": "", "icon": ""}
	if err := d.EditResource(t.Context(), id, empty, ""); err != nil {
		t.Fatal(err)
	}
	if !testdb.Value[bool](tdb, `select description = '' and num_nulls(title_so, description_so, category_so, icon_name) = 4 from resources`) {
		t.Error(testdb.Value[string](tdb, `select to_jsonb(r)::text from resources r`))
	}
}
