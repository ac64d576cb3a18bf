package migrate

import (
	"cmp"
	"io/fs"
	"path"
	"regexp"
	"time"
)

// SkippedFile is an SQL file in the folder migrations that Read skips because of its name.
type SkippedFile struct {
	File     string
	RenameTo string // a name that Read accepts
}

// withoutTime matches a name without the time or with another separator.
var withoutTime = regexp.MustCompile(`^([0-9]*)[-_ .]*(.*)\.sql$`)

// Skipped returns the SQL files in the folder migrations of project that Read skips because of
// their names. A suggested name keeps the digits of the file as its version, or has a version of
// the time now. No migration and no other suggestion has that version.
func Skipped(project fs.FS, now time.Time) (skipped []SkippedFile) {
	files, _ := fs.Glob(project, "migrations/*.sql") // the pattern is valid
	taken := map[string]bool{"": true}
	for _, file := range files {
		if m := fileName.FindStringSubmatch(path.Base(file)); m != nil {
			taken[m[1]] = true
		}
	}
	for _, file := range files {
		base := path.Base(file)
		if fileName.MatchString(base) {
			continue
		}
		m := withoutTime.FindStringSubmatch(base)
		version := m[1]
		for taken[version] {
			version = NewVersion(now)
			now = now.Add(time.Second)
		}
		taken[version] = true
		skipped = append(skipped, SkippedFile{file, path.Join(path.Dir(file), version+"_"+cmp.Or(m[2], "name")+".sql")})
	}
	return skipped
}

// NewVersion returns the version of a migration that is written at a time.
func NewVersion(now time.Time) string { return now.UTC().Format("20060102150405") }
