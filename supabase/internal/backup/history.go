package backup

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// history is how the newest timeline came about: the stretches of the log that
// lead to it, in their order. A restore begins a timeline, so the log may have
// branches that were left.
type history []stretch

// stretch is the part of a timeline that belongs to a history.
type stretch struct {
	timeline   uint32
	begin, end uint64 // positions in the log
}

func (s stretch) has(at uint64) bool {
	return s.begin/segmentSize <= at && at <= (s.end-1)/segmentSize
}

// readHistory returns the history of the newest timeline of a store's log.
func readHistory(ctx context.Context, repo repository) (history, error) {
	names, err := repo.List(ctx, "wal/")
	if err != nil {
		return nil, err
	}
	newest, from := uint32(1), ""
	for _, name := range names {
		plain, _ := plainName(strings.TrimPrefix(name, "wal/"))
		if !strings.HasSuffix(plain, ".history") || !walName.MatchString(plain) {
			continue
		}
		if t, err := strconv.ParseUint(plain[:8], 16, 32); err == nil && uint32(t) > newest {
			newest, from = uint32(t), name
		}
	}
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

// parseHistory reads a timeline's history file. Each of its lines is a timeline
// before it, the position at which that was left, and the reason.
func parseHistory(text string, newest uint32) (h history, err error) {
	var begin uint64
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		t, err := strconv.ParseUint(fields[0], 10, 32)
		if err != nil || len(fields) < 2 {
			return nil, fmt.Errorf("%w: %q is no line of a history", ErrDamaged, line)
		}
		end, err := position(fields[1])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		h = append(h, stretch{uint32(t), begin, end})
		begin = end
	}
	return append(h, stretch{newest, begin, math.MaxUint64}), nil
}

// at is the timeline that a segment belongs to.
func (h history) at(segment uint64) uint32 {
	for _, s := range slices.Backward(h) {
		if s.has(segment) {
			return s.timeline
		}
	}
	return h.newest()
}

func (h history) newest() uint32 { return h[len(h)-1].timeline }

// of returns the history that a backup can be followed along, and none for a
// backup of a branch that was left. One of a timeline of which the store has no
// log stands for itself.
func (h history) of(m Manifest) (history, bool) {
	if m.timeline() > h.newest() {
		return history{{m.timeline(), 0, math.MaxUint64}}, true
	}
	stop, err := position(m.StopLSN)
	return h, err == nil && slices.ContainsFunc(h, func(s stretch) bool { return s.timeline == m.timeline() && stop <= s.end })
}

// timeline is the number of the timeline that the backup was made on.
func (m Manifest) timeline() uint32 {
	t, _ := strconv.ParseUint(m.Timeline, 10, 32) // as Postgres wrote it
	return uint32(t)
}

// stop is the position in the log at which the backup ends.
func (m Manifest) stop() uint64 {
	at, _ := position(m.StopLSN) // as Postgres wrote it
	return at
}

// segments are the first and the last one of the log that a base backup holds
// itself.
func (m Manifest) segments() (first, last uint64, err error) {
	start, err := position(m.StartLSN)
	if err != nil {
		return 0, 0, err
	}
	stop, err := position(m.StopLSN)
	return start / segmentSize, (max(stop, 1) - 1) / segmentSize, err
}
