package cron

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// schedule is a parsed schedule of pg_cron. The function cron._valid accepts the
// same texts.
type schedule struct {
	reboot                   bool
	seconds                  int // the interval, if it is not 0
	minutes, hours           uint64
	days, months             uint64
	weekdays                 uint64
	lastDay                  bool
	anyDay, anyWeekday, wild bool // the field is *; wild: minutes or hours are
}

var errSchedule = errors.New("invalid schedule")

var named = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

var (
	monthNames   = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	weekdayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun"}
)

// parse reads five fields (and ignores text after them, as pg_cron does), a name
// such as @daily, or "30 seconds".
func parse(text string) (s schedule, err error) {
	text = strings.Trim(text, " \t\r\n")
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	if strings.HasPrefix(text, "@") {
		if fields[0] == "@reboot" || fields[0] == "@restart" {
			return schedule{reboot: true}, nil
		}
		expanded, ok := named[fields[0]]
		if !ok {
			return s, errSchedule
		}
		return parse(expanded)
	}
	if n, ok := interval(text); ok {
		if n < 1 || n > 59 {
			return s, errSchedule
		}
		return schedule{seconds: n}, nil
	}
	if len(fields) < 5 {
		return s, errSchedule
	}
	s.lastDay = fields[2] == "$"
	var errs [5]error
	s.minutes, errs[0] = field(fields[0], 0, 59, nil)
	s.hours, errs[1] = field(fields[1], 0, 23, nil)
	if !s.lastDay {
		s.days, errs[2] = field(fields[2], 1, 31, nil)
	}
	s.months, errs[3] = field(fields[3], 1, 12, monthNames)
	s.weekdays, errs[4] = field(fields[4], 0, 7, weekdayNames)
	if s.weekdays&(1|1<<7) != 0 {
		s.weekdays |= 1 | 1<<7 // both are Sunday
	}
	s.anyDay, s.anyWeekday = strings.HasPrefix(fields[2], "*"), strings.HasPrefix(fields[4], "*")
	s.wild = strings.HasPrefix(fields[0], "*") || strings.HasPrefix(fields[1], "*")
	return s, errors.Join(errs[:]...)
}

// interval reads "5 seconds" and "1 second".
func interval(text string) (int, bool) {
	text = strings.ToLower(text)
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	unit := strings.Trim(text[digits:], " \t\r\n")
	if digits == 0 || unit != "second" && unit != "seconds" {
		return 0, false
	}
	n, err := strconv.Atoi(text[:digits])
	if err != nil || digits > 4 {
		n = 0
	}
	return n, true
}

// field returns the set of numbers of one field.
func field(text string, low, high int, names []string) (set uint64, err error) {
	for item := range strings.SplitSeq(text, ",") {
		body, stepText, hasStep := strings.Cut(item, "/")
		step := 1
		if hasStep {
			if step, err = number(stepText); err != nil || step == 0 {
				return 0, errSchedule
			}
		}
		from, to := low, high
		if body != "*" {
			first, last, isRange := strings.Cut(body, "-")
			if !isRange {
				last = first
			}
			if from, err = value(first, low, high, names); err != nil {
				return 0, err
			}
			if to, err = value(last, low, high, names); err != nil {
				return 0, err
			}
			if hasStep && !isRange {
				return 0, errSchedule
			}
		}
		for i := from; i <= to; i += step {
			set |= 1 << i
		}
	}
	return set, nil
}

func value(text string, low, high int, names []string) (int, error) {
	n, err := number(text)
	if err != nil {
		place := slices.Index(names, strings.ToLower(text))
		if place < 0 {
			return 0, errSchedule
		}
		n = place + low
	}
	if n < low || n > high {
		return 0, errSchedule
	}
	return n, nil
}

// number reads one to four digits.
func number(text string) (int, error) {
	if len(text) == 0 || len(text) > 4 || strings.Trim(text, "0123456789") != "" {
		return 0, errSchedule
	}
	return strconv.Atoi(text)
}

// matches reports whether the schedule has the minute of t, in t's time zone.
// both means that day and weekday must match even if both are given.
func (s schedule) matches(t time.Time, both bool) bool {
	has := func(set uint64, n int) bool { return set&(1<<n) != 0 }
	day := has(s.days, t.Day()) || s.lastDay && t.AddDate(0, 0, 1).Day() == 1
	weekday := has(s.weekdays, int(t.Weekday()))
	days := day || weekday
	if both || s.anyDay || s.anyWeekday {
		days = day && weekday
	}
	return has(s.minutes, t.Minute()) && has(s.hours, t.Hour()) && has(s.months, int(t.Month())) && days
}

// due returns how often a job runs for the minutes after last up to now, and the
// minute from which to count next time. After a jump of the clock it follows
// cron: a forward jump of less than three hours runs jobs at fixed times for the
// minutes that were skipped and other jobs once; after a backward jump of less
// than three hours jobs at fixed times do not run again.
func (s schedule) due(last, now time.Time, both bool) (runs int, next time.Time) {
	minute := now.Truncate(time.Minute)
	passed := int(minute.Sub(last) / time.Minute)
	const jump, change = 5, 180
	switch {
	case passed == 0:
		return 0, last
	case passed > 0 && passed <= change:
		for t := last.Add(time.Minute); !t.After(minute); t = t.Add(time.Minute) {
			if (passed <= jump || !s.wild || t.Equal(minute)) && s.matches(t.In(now.Location()), both) {
				runs++
			}
		}
		return runs, minute
	case passed < 0 && passed > -change:
		if s.wild && s.matches(minute, both) {
			return 1, last
		}
		return 0, last
	}
	if s.matches(minute, both) {
		return 1, minute
	}
	return 0, minute
}
