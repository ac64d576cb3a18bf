package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var testCommand = Command{
	Name:  "test",
	Short: "Run or write tests of the database with pgTAP",
	Verbs: []Command{
		{Name: "db", Args: "[PATH…] [FLAGS]", Short: "The same as daawo db test", Run: testDatabase},
		{Name: "new", Args: "NAME", Short: "Write a first test to supabase/tests", Run: newTest},
	},
}

// firstTest is a test that passes.
const firstTest = `begin;
select plan(1);

select has_schema('public');

select * from finish();
rollback;
`

func newTest(_ context.Context, inv *Invocation) error {
	inv.ignore(nil, "template", "t")
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	project, err := inv.project()
	if err != nil {
		return err
	}
	if project.dir == "" {
		return errors.New("the working folder has no supabase/; `daawo init` creates one")
	}
	file := filepath.Join(project.dir, "tests", filepath.Base(strings.TrimSuffix(inv.args[0], ".sql"))+"_test.sql")
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists already", file)
	}
	return writeFile(inv, file, firstTest)
}
