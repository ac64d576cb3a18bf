package objects

import (
	"regexp"
	"strconv"
)

var rangePattern = regexp.MustCompile(`^bytes=(\d*)-(\d*)$`)

// ParseRange parses a Range header with a single range. It returns errInvalidRange (416) for the
// forms that storage-api refuses.
func ParseRange(header string, size int64) (offset, length int64, err error) {
	m := rangePattern.FindStringSubmatch(header)
	if m == nil || size == 0 || m[1] == "" && m[2] == "" {
		return 0, 0, errInvalidRange()
	}
	last := size - 1
	if m[1] == "" {
		n, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil || n == 0 {
			return 0, 0, errInvalidRange()
		}
		n = min(n, size)
		return size - n, n, nil
	}
	first, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || first > last {
		return 0, 0, errInvalidRange()
	}
	if m[2] != "" {
		end, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil || end < first {
			return 0, 0, errInvalidRange()
		}
		last = min(last, end)
	}
	return first, last - first + 1, nil
}
