package acceptance

import (
	"context"
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

	"daawo/functions/admin"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/stack"
)

// newClient returns an administrator's client of a new installation, and the requests that it makes
// to the storage service.
func newClient(t *testing.T) (*admin.Client, *testdb.DB, *[]string) {
	t.Helper()
	var asked []string
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.Path+" "+string(body))
		_, _ = io.WriteString(w, `{"signedURL":"/object/sign/report-photos/x?token=t"}`)
	}))
	t.Cleanup(storage.Close)
	tdb := newDatabase(t)
	c, err := admin.Open(t.Context(), stack.Installation{
		Database: tdb.URL("postgres"), API: storage.URL, Public: "https://example.org", Key: "key",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c, tdb, &asked
}

// TestReportAdministration checks filters, changes, the link to a photo, and the deletion of a
// report with its photo.
func TestReportAdministration(t *testing.T) {
	c, tdb, asked := newClient(t)
	tdb.Exec(`
		insert into reports (reference, product_name, issue_description, region, photo_url, status, created_at) values
			('DW-0000-0001', 'A', 'x', 'Bari', '1700000000000.jpg', 'new', now() - interval '1 hour'),
			('DW-0000-0002', 'B', 'x', null, null, 'closed', now()),
			('DW-0000-0003', 'C', 'x', null, null, 'new', now() - interval '10 days')`)
	references := func(f admin.Filter) string {
		t.Helper()
		found, err := c.Reports(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range found {
			names = append(names, r.ProductName)
		}
		return strings.Join(names, "")
	}
	for want, f := range map[string]admin.Filter{
		"BAC": {}, "AC": {Status: "new"}, "BA": {Since: time.Now().Add(-24 * time.Hour)}, "A": {Region: "bari"},
		"B": {Limit: 1},
	} {
		if got := references(f); got != want {
			t.Errorf("%+v: %s, want %s", f, got, want)
		}
	}
	if _, err := c.Reports(t.Context(), admin.Filter{Status: "done"}); err == nil ||
		!strings.Contains(err.Error(), "reviewing") {
		t.Errorf("an unknown status: %v", err)
	}

	status, notes := "reviewing", "called the shop"
	r, err := c.SetReport(t.Context(), "dw 0000 ooo1", &status, &notes) // as spoken over the telephone
	if err != nil || r.Status != status || *r.ReviewerNotes != notes {
		t.Fatalf("%+v %v", r, err)
	}
	if r, err = c.SetReport(t.Context(), r.ID, nil, nil); err != nil || r.Status != status ||
		*r.ReviewerNotes != notes {
		t.Errorf("an empty change changed something: %+v %v", r, err)
	}
	if link, err := c.PhotoLink(t.Context(), r); err != nil ||
		link != "https://example.org/storage/v1/object/sign/report-photos/x?token=t" {
		t.Errorf("%s %v", link, err)
	}
	if _, err := c.DeleteReport(t.Context(), r.Reference, "asked for"); err != nil {
		t.Fatal(err)
	}
	if last := (*asked)[len(*asked)-1]; last != `DELETE /storage/v1/object/report-photos {"prefixes":["1700000000000.jpg"]}` {
		t.Errorf("the photo was not deleted: %s", last)
	}
	if _, err := c.Report(t.Context(), r.Reference); !errors.Is(err, admin.ErrNotFound) {
		t.Errorf("a deleted report: %v", err)
	}
}

// TestResourceAdministration checks adding, editing and publishing a resource, and the rejection of
// invalid values.
func TestResourceAdministration(t *testing.T) {
	c, _, asked := newClient(t)
	file := filepath.Join(t.TempDir(), "a guide.pdf")
	if err := os.WriteFile(file, []byte("%PDF-1.7"), 0o600); err != nil {
		t.Fatal(err)
	}
	id, err := c.AddResource(t.Context(),
		map[string]string{"title": "A", "category": "Safety", "icon": "Shield", "featured": "true"}, file)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.EditResource(t.Context(), id,
		map[string]string{"title": "It's B", "title-so": "S", "featured": "false"}, ""); err != nil {
		t.Fatal(err)
	}
	list, err := c.Resources(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	r := list[0]
	if r.Title != "It's B" || r.IsActive || r.IsFeatured || r.FileSize != 8 ||
		r.FileURL != "/storage/v1/object/public/resources/a%20guide.pdf" {
		t.Errorf("%+v", r)
	}
	if (*asked)[0] != "PUT /storage/v1/object/resources/a guide.pdf %PDF-1.7" {
		t.Errorf("%v", *asked)
	}
	if err := c.PublishResource(t.Context(), id, true); err != nil {
		t.Error(err)
	}
	if list, _ := c.Resources(t.Context()); !list[0].IsActive {
		t.Error("it is not published")
	}
	for what, err := range map[string]error{
		"an unknown id":    c.PublishResource(t.Context(), "5eed0000-0000-4000-8000-000000000000", true),
		"an unknown value": c.EditResource(t.Context(), id, map[string]string{"is_active": "true"}, ""),
		"a broken colour":  c.EditResource(t.Context(), id, map[string]string{"color": "bg-\nred"}, ""),
		"a script":         c.EditResource(t.Context(), id, map[string]string{"file-url": "javascript:alert(1)"}, ""),
		"an empty address": c.EditResource(t.Context(), id, map[string]string{"file-url": " "}, ""),
		"a program":        c.EditResource(t.Context(), id, nil, "/bin/true"),
	} {
		if err == nil {
			t.Errorf("%s was accepted", what)
		}
	}
}

// TestFailedResourceChangesNothing checks that a rejected resource leaves no row and does not
// replace a stored file.
func TestFailedResourceChangesNothing(t *testing.T) {
	c, _, asked := newClient(t)
	file := filepath.Join(t.TempDir(), "guide.pdf")
	if err := os.WriteFile(file, []byte("%PDF-1.7"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		values map[string]string
		file   string
	}{
		"an unknown icon":  {map[string]string{"icon": "Bogus"}, file},
		"an unknown value": {map[string]string{"is_active": "true"}, file},
		"no such file":     {nil, file + "x.pdf"},
		"a program":        {nil, "/bin/true"},
	} {
		values := map[string]string{"title": "A", "category": "B"}
		maps.Copy(values, tt.values)
		if _, err := c.AddResource(t.Context(), values, tt.file); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	api := c.API
	c.API = "http://127.0.0.1:1"
	if _, err := c.AddResource(t.Context(), map[string]string{"title": "A", "category": "B"}, file); err == nil {
		t.Error("a file was accepted without a storage service")
	}
	c.API = api
	if list, err := c.Resources(t.Context()); err != nil || len(list) != 0 || len(*asked) != 0 {
		t.Fatalf("the failures left %+v, uploaded %v, %v", list, *asked, err)
	}
	id, err := c.AddResource(t.Context(), map[string]string{"title": "A", "category": "B"}, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"an unknown icon": c.EditResource(t.Context(), id, map[string]string{"icon": "Bogus"}, file),
		"an unknown id":   c.EditResource(t.Context(), "5eed0000-0000-4000-8000-000000000000", nil, file),
	} {
		if err == nil || len(*asked) != 0 {
			t.Errorf("%s: %v, uploaded %v", name, err, *asked)
		}
	}
}

// TestEmptyResourceTexts checks that an empty text becomes null, or ” in the column that is not
// null.
func TestEmptyResourceTexts(t *testing.T) {
	c, tdb, _ := newClient(t)
	full := map[string]string{"title": "A", "category": "B", "description": "x", "title-so": "x", "description-so": "x",
		"category-so": "x", "icon": "Shield"}
	id, err := c.AddResource(t.Context(), full, "")
	if err != nil {
		t.Fatal(err)
	}
	empty := map[string]string{"description": "", "title-so": "", "description-so": "", "category-so": "", "icon": ""}
	if err := c.EditResource(t.Context(), id, empty, ""); err != nil {
		t.Fatal(err)
	}
	if !testdb.Value[bool](tdb,
		`select description = '' and num_nulls(title_so, description_so, category_so, icon_name) = 4 from resources`) {
		t.Error(testdb.Value[string](tdb, `select to_jsonb(r)::text from resources r`))
	}
}

// TestResourceIcons checks that the commands accept each icon that the site draws, and name them
// all when they refuse another.
func TestResourceIcons(t *testing.T) {
	c, _, _ := newClient(t)
	source, err := os.ReadFile("../../web/src/screens/resources/resource-icon.tsx")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(source), "const icons = { ")
	list, _, closed := strings.Cut(list, " };")
	if !found || !closed {
		t.Fatal("the site's list of icons was not found")
	}
	_, refused := c.AddResource(t.Context(), map[string]string{"title": "A", "category": "B", "icon": "Bogus"}, "")
	for icon := range strings.SplitSeq(list, ", ") {
		if _, err := c.AddResource(t.Context(), map[string]string{"title": "A", "category": "B", "icon": icon},
			""); err != nil {
			t.Errorf("%s: %v", icon, err)
		}
		if refused == nil || !strings.Contains(refused.Error(), icon) {
			t.Errorf("%v lacks %s", refused, icon)
		}
	}
}
