package ast

import "math"

// Range is a closed interval of rows: Lo is the offset, Hi the last row, and
// NoLimit as Hi means that there is no last row.
type Range struct{ Lo, Hi int64 }

// NoLimit is the Hi of a range without a limit.
const NoLimit = math.MaxInt64

// AllRows gives the range of every row.
func AllRows() Range { return Range{0, NoLimit} }

// IsAll says whether nothing is cut off.
func (r Range) IsAll() bool { return r == AllRows() }

// Empty says whether the range holds no row.
func (r Range) Empty() bool { return r.Lo > r.Hi }

// LimitZero says whether the range came from limit=0, which is allowed and answers no rows.
func (r Range) LimitZero() bool { return r.Hi == -1 }

// Limit gives the number of rows and whether there is such a number.
func (r Range) Limit() (int64, bool) {
	if r.Hi == NoLimit {
		return 0, false
	}
	return 1 + r.Hi - r.Lo, true
}

// Intersect cuts one range with another.
func (r Range) Intersect(o Range) Range { return Range{max(r.Lo, o.Lo), min(r.Hi, o.Hi)} }

// AtMost cuts a range to n rows; limit=0 stays what it is.
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
