package physical

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/database/backup/codec"
)

// history lists the parts of the WAL that lead to the newest timeline, in order.
// Each restore starts a new timeline, so the WAL can have abandoned branches.
type history []span

// span is the part of a timeline that belongs to a history.
type span struct {
	timeline   uint32
	begin, end uint64 // WAL positions
}

func (s span) has(at uint64) bool {
	return s.begin/segmentSize <= at && at <= (s.end-1)/segmentSize
}

// readHistory returns the history of the newest timeline in a store.
func readHistory(ctx context.Context, repo repository) (history, error) {
	names, err := repo.List(ctx, "wal/")
	if err != nil {
		return nil, err
	}
	newest, from := newestHistory(names)
	if from == "" {
		return history{{newest, 0, math.MaxUint64}}, nil
	}
	var h history
	err = repo.read(ctx, from, func(r io.Reader) error {
		text, err := io.ReadAll(r)
		if err == nil {
			h, err = parseHistory(string(text), newest)
		}
		return err
	})
	return h, err
}

// newestHistory returns the newest timeline of which names has the history, and the history's name:
// 1 and "" if there is none.
func newestHistory(names []string) (newest uint32, from string) {
	newest = 1
	for _, name := range names {
		plain, _ := plainName(strings.TrimPrefix(name, "wal/"))
		if !strings.HasSuffix(plain, ".history") || !walName.MatchString(plain) {
			continue
		}
		if t, err := strconv.ParseUint(plain[:8], 16, 32); err == nil && uint32(t) > newest {
			newest, from = uint32(t), name
		}
	}
	return newest, from
}

// parseHistory parses a timeline history file. Each line holds an earlier
// timeline, the position at which the next timeline branched off, and a reason.
func parseHistory(text string, newest uint32) (h history, err error) {
	var begin uint64
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		t, err := strconv.ParseUint(fields[0], 10, 32)
		if err != nil || len(fields) < 2 {
			return nil, fmt.Errorf("%w: %q is not a line of a timeline history", codec.ErrDamaged, line)
		}
		end, err := position(fields[1])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", codec.ErrDamaged, err)
		}
		h = append(h, span{uint32(t), begin, end})
		begin = end
	}
	return append(h, span{newest, begin, math.MaxUint64}), nil
}

// at returns the timeline of a segment.
func (h history) at(segment uint64) uint32 {
	for _, s := range slices.Backward(h) {
		if s.has(segment) {
			return s.timeline
		}
	}
	return h.newest()
}

func (h history) newest() uint32 { return h[len(h)-1].timeline }

// of returns the history that continues a backup, and false if the backup is on
// an abandoned branch. A timeline without WAL in the store is its own history.
func (h history) of(m Manifest) (history, bool) {
	if m.timeline() > h.newest() {
		return history{{m.timeline(), 0, math.MaxUint64}}, true
	}
	stop, err := position(m.StopLSN)
	return h, err == nil && slices.ContainsFunc(h,
		func(s span) bool { return s.timeline == m.timeline() && stop <= s.end })
}

// timeline returns the timeline of the backup.
func (m Manifest) timeline() uint32 {
	t, _ := strconv.ParseUint(m.Timeline, 10, 32) // as Postgres wrote it
	return uint32(t)
}

// stop returns the WAL position at which the backup ends.
func (m Manifest) stop() uint64 {
	at, _ := position(m.StopLSN) // as Postgres wrote it
	return at
}

// segments returns the numbers of the first and the last WAL segment that a base
// backup contains.
func (m Manifest) segments() (first, last uint64, err error) {
	start, err := position(m.StartLSN)
	if err != nil {
		return 0, 0, err
	}
	stop, err := position(m.StopLSN)
	return start / segmentSize, (max(stop, 1) - 1) / segmentSize, err
}
