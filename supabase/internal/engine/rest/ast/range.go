package ast

import "math"

// Huge holds a limit and an offset that Postgres' bigint cannot hold, as sent; "" is none. The
// Range next to it has a number near the bound instead.
type Huge struct{ Limit, Offset string }

// Range is a closed interval of rows. Lo is the offset and Hi the last row, or NoLimit.
type Range struct{ Lo, Hi int64 }

// NoLimit is the Hi of a range without a limit.
const NoLimit = math.MaxInt64

// AllRows returns the range of all rows.
func AllRows() Range { return Range{0, NoLimit} }

// IsAll reports whether the range is AllRows.
func (r Range) IsAll() bool { return r == AllRows() }

// Empty reports whether the range holds no row.
func (r Range) Empty() bool { return r.Lo > r.Hi }

// LimitZero reports whether the range stands for limit=0, which is valid and returns no rows.
func (r Range) LimitZero() bool { return r.Hi == -1 }

// Limit returns the number of rows, and false if there is no limit.
func (r Range) Limit() (int64, bool) {
	if r.Hi == NoLimit {
		return 0, false
	}
	return 1 + r.Hi - r.Lo, true
}

// Intersect returns the rows that are in both ranges.
func (r Range) Intersect(o Range) Range { return Range{max(r.Lo, o.Lo), min(r.Hi, o.Hi)} }

// AtMost returns the first n rows of a range. LimitZero stays the same.
func (r Range) AtMost(n int64) Range {
	if r.LimitZero() {
		return Range{0, -1}
	}
	hi := r.Lo + n - 1
	if hi < r.Lo && n > 0 { // overflow
		hi = NoLimit
	}
	return Range{r.Lo, min(r.Hi, hi)}
}
