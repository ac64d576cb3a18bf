package app

import (
	"strings"
	"testing"
	"testing/fstest"
)

// shop is a project of other people.
var shop = fstest.MapFS{
	"migrations/20260301000000_goods.sql":  {Data: []byte("create table public.goods (id int)")},
	"migrations/20260302000000_prices.sql": {Data: []byte("create table public.prices (id int)")},
}

// TestDataFolderOfAnotherProject checks that a data folder accepts one project, by its name and by
// its recorded migrations.
func TestDataFolderOfAnotherProject(t *testing.T) {
	data := dataFolder(t)
	migrateAs := func(id string, files fstest.MapFS) error {
		a := newApp(t, data, nil)
		a.Config.ProjectID, a.Project, a.Foreign = id, files, true
		a.Config.DB.Seed.Enabled = false
		return a.Migrate(t.Context())
	}
	if err := migrateAs("shop", shop); err != nil {
		t.Fatal(err)
	}
	without := fstest.MapFS{"migrations/20260301000000_goods.sql": shop["migrations/20260301000000_goods.sql"]}
	for name, c := range map[string]struct {
		id    string
		files fstest.MapFS
		want  []string
	}{
		"another name":    {"news", fstest.MapFS{}, []string{`"shop"`, `"news"`, data, "--data"}},
		"another history": {"shop", project, []string{"20260301000000_goods, 20260302000000_prices", "--data"}},
		"a missing file": {"shop", without,
			[]string{"20260302000000_prices", "repair --status reverted 20260302000000"}},
		"the same once more": {"shop", shop, nil},
	} {
		err := migrateAs(c.id, c.files)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range c.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s in it", name, err, want)
			}
		}
	}
}
