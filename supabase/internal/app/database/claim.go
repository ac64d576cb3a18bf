package database

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/atomicfile"
	"daawo/supabase/internal/database/migrate"
)

// claimName is the file in the data folder that names its project.
const claimName = "project.json"

// claim is the content of claimName.
type claim struct {
	ProjectID string `json:"project_id"`
}

// checkProject refuses a data folder of another project, and a database with migrations that a
// project of other people does not have. The program's own project may be older than its database:
// a newer release has applied more.
func (d *Database) checkProject(ctx context.Context, conn *pgx.Conn) error {
	this := claim{d.Config.ProjectID}
	if d.embedded != nil {
		held, err := readClaim(d.Data)
		if err != nil {
			return err
		}
		if held.ProjectID != "" && held != this {
			return fmt.Errorf("data folder %s holds the project %q, and this is the project %q: "+
				"name another folder with --data or DAAWO_DATA, or, if this project was renamed, delete %s",
				d.Data, held.ProjectID, this.ProjectID, filepath.Join(d.Data, claimName))
		}
	}
	if d.Foreign && d.Config.DB.Migrations.Enabled {
		difference, err := migrate.Compare(ctx, conn, d.Project)
		if err != nil {
			return err
		}
		if len(difference.Missing) > 0 {
			return d.missing(difference)
		}
	}
	if d.embedded == nil || d.guest {
		return nil
	}
	return writeClaim(d.Data, this)
}

// missing is the error for a database with migrations that the project does not have.
func (d *Database) missing(difference migrate.Difference) error {
	names := make([]string, 0, 3)
	for i, r := range difference.Missing {
		if i == cap(names)-1 && len(difference.Missing) > cap(names) {
			names = append(names, fmt.Sprintf("%d more", len(difference.Missing)-i))
			break
		}
		names = append(names, strings.TrimSuffix(r.Version+"_"+r.Name, "_"))
	}
	return fmt.Errorf("the database has migrations that the project %q does not have (%s): "+
		"if they are of another project, name another folder with --data; otherwise restore the files with "+
		"`daawo migration fetch`, forget them with `daawo migration repair --status reverted %s`, "+
		"or begin again with `daawo db reset`",
		d.Config.ProjectID, strings.Join(names, ", "), difference.Missing[0].Version)
}

// readClaim returns the project of a data folder, or none.
func readClaim(data string) (c claim, err error) {
	text, err := os.ReadFile(filepath.Join(data, claimName))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, fmt.Errorf("data folder %s: %s: %w", data, claimName, err)
	}
	return c, nil
}

// writeClaim records the project of a data folder, once.
func writeClaim(data string, c claim) error {
	if held, err := readClaim(data); err != nil || held == c {
		return err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(data, claimName), text, 0o644)
}
