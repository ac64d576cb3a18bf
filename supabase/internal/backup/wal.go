package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// walName matches what Postgres archives: segments, the unfinished one at which
// a restored cluster left its old timeline, timeline histories and the notes
// that base backups leave.
var walName = regexp.MustCompile(`^([0-9A-F]{24}(\.partial|\.[0-9A-F]{8}\.backup)?|[0-9A-F]{8}\.history)$`)

// shipLog moves what Postgres has put into dir to the store, oldest first.
func shipLog(ctx context.Context, repo repository, dir string) (shipped int, err error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if !walName.MatchString(e.Name()) {
			continue // still being written
		}
		path := filepath.Join(dir, e.Name())
		_, err := repo.putSummed(ctx, "wal/"+e.Name(), func(w io.Writer) error {
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(w, f)
			return err
		})
		if err != nil {
			return shipped, err
		}
		if err := os.Remove(path); err != nil {
			return shipped, err
		}
		shipped++
	}
	return shipped, nil
}

// segmentSize is that of our clusters (initdb --wal-segsize), in bytes.
const segmentSize = 1 << 20

// segment is the position of the log's segment that holds an LSN such as
// 0/2000028, whatever the timeline.
func segment(lsn string) (uint64, error) {
	hi, lo, ok := strings.Cut(lsn, "/")
	h, err1 := strconv.ParseUint(hi, 16, 32)
	l, err2 := strconv.ParseUint(lo, 16, 32)
	if !ok || err1 != nil || err2 != nil {
		return 0, fmt.Errorf("%q is no position in a log", lsn)
	}
	return (h<<32 | l) / segmentSize, nil
}

// segmentOf is the position of a segment by its file's name, which is its
// timeline, and its number in two halves, the lower one counting within 4 GB.
func segmentOf(name string) (uint64, bool) {
	if len(name) < 24 {
		return 0, false
	}
	hi, err1 := strconv.ParseUint(name[8:16], 16, 32)
	lo, err2 := strconv.ParseUint(name[16:24], 16, 32)
	return hi*(1<<32/segmentSize) + lo, err1 == nil && err2 == nil
}

// fetchLog brings the log from segment first to last (0: to its end) into dir
// and returns how many segments there were. The note of a name that was
// archived twice does not matter: equal names are equal logs.
func fetchLog(ctx context.Context, repo repository, dir string, first, last uint64) (int, error) {
	names, err := repo.List(ctx, "wal/")
	if err != nil {
		return 0, err
	}
	n := 0
	for _, name := range names {
		plain, _ := plainName(strings.TrimPrefix(name, "wal/"))
		if !walName.MatchString(plain) {
			continue
		}
		if at, ok := segmentOf(plain); ok && (at < first || last != 0 && at > last) {
			continue
		}
		err := repo.read(ctx, name, func(r io.Reader) error {
			f, err := os.Create(filepath.Join(dir, plain))
			if err != nil {
				return err
			}
			_, err = io.Copy(f, r)
			return errors.Join(err, f.Close())
		})
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
