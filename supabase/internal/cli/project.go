package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"daawo/supabase/internal/database/migrate"
)

// selection is the project that a command works on.
type selection struct {
	files fs.FS  // the content of the folder supabase/
	dir   string // its path, "" for the project inside the program
	own   bool   // it is the project of the program, and not of other people
}

// project returns the project that the command line selects: the folder supabase/ of --workdir or
// of the working folder, or else the project inside the program. With a project of other people the
// program's site, functions, mails and settings are left out.
func (inv *Invocation) project() (selection, error) {
	if inv.selected != nil {
		return *inv.selected, nil
	}
	s, err := selectProject(inv)
	if err != nil {
		return selection{}, err
	}
	inv.selected = &s
	if !s.own {
		inv.Env = inv.stackOnly()
	}
	return s, nil
}

func selectProject(inv *Invocation) (selection, error) {
	dir := filepath.Join(inv.workdir, "supabase")
	if inv.workdir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return selection{}, fmt.Errorf("--workdir %s: it has no folder supabase/; `daawo init %s` creates one",
				inv.workdir, inv.workdir)
		}
	} else if !isProject(dir) {
		return selection{inv.Project, "", true}, nil
	}
	files := os.DirFS(dir)
	own, err := sameProject(inv.Project, files)
	if err != nil {
		return selection{}, unreadable(dir, err)
	}
	return selection{files, dir, own}, nil
}

// unreadable adds the folder of the project to the error of a file in it.
func unreadable(dir string, err error) error {
	return fmt.Errorf("the project in %s cannot be read: %w", cmp.Or(dir, "this program"), err)
}

// isProject reports whether a folder has the files of a project. A folder supabase/ with the source
// of an application has none.
func isProject(dir string) bool {
	for _, name := range []string{"config.toml", "migrations", "seed.sql"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// sameProject reports whether a folder has the oldest migration of the program's project. A program
// without migrations has no project of its own and runs every folder as its project.
func sameProject(program, folder fs.FS) (bool, error) {
	if program == nil {
		return false, nil
	}
	list, err := migrate.Read(program)
	if err != nil || len(list) == 0 {
		return true, err
	}
	oldest := "migrations/" + list[0].Version + "_" + list[0].Name + ".sql"
	_, err = fs.Stat(folder, oldest)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return true, err
}

// projectName returns the name of a project without project_id: the name of the folder that
// contains supabase/.
func (s selection) projectName() string {
	if s.own {
		return ""
	}
	parent, err := filepath.Abs(filepath.Dir(s.dir))
	if err != nil {
		return ""
	}
	return filepath.Base(parent)
}

// home returns the folder that contains supabase/, for a project outside of the program; ""
// otherwise.
func (s selection) home() string {
	if s.dir == "" {
		return ""
	}
	return cmp.Or(filepath.Dir(s.dir), ".")
}

// functions returns the folder of the module with functions in Go of a project that is not the
// program's. "" means that it has none.
func (s selection) functions() string {
	if s.own {
		return ""
	}
	for _, name := range []string{"go.mod", filepath.Join("functions", "functions.go")} {
		if _, err := os.Stat(filepath.Join(s.home(), name)); err != nil {
			return ""
		}
	}
	return s.home()
}
