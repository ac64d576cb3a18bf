package physical

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/database/backup/codec"
)

// walName matches the files that Postgres archives: segments, the partial last
// segment of an old timeline, timeline histories and backup history files.
var walName = regexp.MustCompile(`^([0-9A-F]{24}(\.partial|\.[0-9A-F]{8}\.backup)?|[0-9A-F]{8}\.history)$`)

// shipLog moves the archived files in dir to the store, oldest first.
func shipLog(ctx context.Context, repo repository, dir string) (shipped int, err error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	end := ""
	for _, e := range entries {
		if !walName.MatchString(e.Name()) {
			continue // incomplete
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
		if len(e.Name()) == 24 {
			end = e.Name()
		}
	}
	if end == "" {
		return shipped, nil
	}
	return shipped, repo.Put(ctx, endMark, strings.NewReader(markOf(end)))
}

// endMark is the name of the object that names the last stored segment. Without
// it a missing last segment would look like the end of the WAL.
const endMark = "END"

func markOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return name + " " + hex.EncodeToString(sum[:])[:sumChars] + "\n"
}

// segment is a segment of a timeline. The zero value is none.
type segment struct {
	timeline uint32
	at       uint64
}

// readEnd returns the last segment that was stored, or none in a store of an
// older program.
func readEnd(ctx context.Context, store Store) (end segment, err error) {
	text, err := readSmall(ctx, store, endMark)
	if errors.Is(err, fs.ErrNotExist) {
		return end, nil
	} else if err != nil {
		return end, fmt.Errorf("read %s: %w", endMark, err)
	}
	name, _, _ := strings.Cut(text, " ")
	timeline, at, ok := segmentOf(name)
	if !ok || text != markOf(name) {
		return end, fmt.Errorf("%w: %s", codec.ErrDamaged, endMark)
	}
	return segment{timeline, at}, nil
}

// segmentSize is the WAL segment size of our clusters (initdb --wal-segsize), in
// bytes.
const segmentSize = 1 << 20

// position parses a WAL position such as 0/2000028 and returns it in bytes.
func position(lsn string) (uint64, error) {
	hi, lo, ok := strings.Cut(lsn, "/")
	h, err1 := strconv.ParseUint(hi, 16, 32)
	l, err2 := strconv.ParseUint(lo, 16, 32)
	if !ok || err1 != nil || err2 != nil {
		return 0, fmt.Errorf("%q is not a WAL position", lsn)
	}
	return h<<32 | l, nil
}

// segmentOf returns the timeline and the number of a segment from its file name.
// The name holds the number in two halves; the lower half counts within 4 GB.
func segmentOf(name string) (timeline uint32, at uint64, ok bool) {
	if len(name) < 24 {
		return 0, 0, false
	}
	t, err1 := strconv.ParseUint(name[:8], 16, 32)
	hi, err2 := strconv.ParseUint(name[8:16], 16, 32)
	lo, err3 := strconv.ParseUint(name[16:24], 16, 32)
	return uint32(t), hi*(1<<32/segmentSize) + lo, err1 == nil && err2 == nil && err3 == nil
}

func segmentName(timeline uint32, at uint64) string {
	const half = 1 << 32 / segmentSize
	return fmt.Sprintf("%08X%08X%08X", timeline, at/half, at%half)
}

// storedLog lists the WAL in a store: the objects of each timeline's complete
// segments by number, and the history files.
type storedLog struct {
	segments  map[uint32]map[uint64][]string
	histories []string
}

func listLog(ctx context.Context, store Store) (storedLog, error) {
	l := storedLog{segments: map[uint32]map[uint64][]string{}}
	names, err := store.List(ctx, "wal/")
	for _, name := range names {
		plain, _ := plainName(strings.TrimPrefix(name, "wal/"))
		switch timeline, at, ok := segmentOf(plain); {
		case !walName.MatchString(plain):
		case strings.HasSuffix(plain, ".history"):
			l.histories = append(l.histories, name)
		case ok && len(plain) == 24:
			if l.segments[timeline] == nil {
				l.segments[timeline] = map[uint64][]string{}
			}
			l.segments[timeline][at] = append(l.segments[timeline][at], name)
		}
	}
	return l, err
}

// along returns the objects of a history's segments, by number.
func (l storedLog) along(h history) map[uint64][]string {
	all := map[uint64][]string{}
	for _, s := range h {
		for at, names := range l.segments[s.timeline] {
			if s.has(at) {
				all[at] = append(all[at], names...)
			}
		}
	}
	return all
}

// fetchLog copies the WAL that continues a backup along a history into dir, up to
// segment last (0: to the end), and returns the number of segments. If a segment
// is missing, gap is codec.ErrDamaged and only the segments before it are copied.
// Objects with equal names hold equal segments, so any of them can be used.
func fetchLog(ctx context.Context, repo repository, dir string, m Manifest, h history, last uint64) (n int, gap,
	err error) {
	log, err := listLog(ctx, repo)
	if err != nil {
		return 0, nil, err
	}
	first, own, err := m.segments()
	if err != nil {
		return 0, nil, err
	}
	all := log.along(h)
	end := uint64(0)
	for at := range all {
		if end = max(end, at); last != 0 {
			end = min(end, last)
		}
	}
	for at := own + 1; at <= end; at++ {
		if len(all[at]) == 0 {
			gap = fmt.Errorf("%w: WAL segment %s is missing in %s", codec.ErrDamaged, segmentName(h.at(at), at), repo)
			end = at - 1
		}
	}
	wanted := slices.Clone(log.histories)
	for at := first; at <= end; at++ {
		if len(all[at]) > 0 {
			wanted, n = append(wanted, all[at]...), n+1
		}
	}
	for _, name := range wanted {
		if err := fetchPiece(ctx, repo, dir, name); err != nil {
			return n, gap, err
		}
	}
	return n, gap, nil
}

func fetchPiece(ctx context.Context, repo repository, dir, name string) error {
	plain, _ := plainName(strings.TrimPrefix(name, "wal/"))
	return repo.read(ctx, name, func(r io.Reader) error {
		f, err := os.Create(filepath.Join(dir, plain))
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, f.Close())
	})
}
