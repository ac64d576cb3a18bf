package schema

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func itoa(n int) string { return strconv.Itoa(n) }

// hints holds the names of tables, to suggest one for a misspelt name.
type hints struct {
	tables map[string]*fuzzySet // by schema; nil if a schema has too many tables
}

// maxHinted is the number of tables from which a schema gives no suggestions.
const maxHinted = 500

func newHints(c *Cache) hints {
	bySchema := map[string][]string{}
	for n := range c.Tables {
		bySchema[n.Schema] = append(bySchema[n.Schema], n.Name)
	}
	h := hints{tables: map[string]*fuzzySet{}}
	for schema, names := range bySchema {
		if len(names) < maxHinted {
			h.tables[schema] = newFuzzySet(names)
		}
	}
	return h
}

// strict is the minimum similarity for names of tables and functions, so that hints do not reveal
// unrelated names. loose is the minimum for parameters and related tables.
const (
	strict = 0.75
	loose  = 0.33
)

// LikeTable returns the table of the schema with the most similar name.
func (c *Cache) LikeTable(schema, name string) (string, bool) {
	set := c.names.tables[schema]
	if set == nil {
		return "", false
	}
	return set.best(name, strict)
}

// LikeRoutine returns the function of the schema with the most similar name.
func (c *Cache) LikeRoutine(schema, name string) (string, bool) {
	var names []string
	for n := range c.Routines {
		if n.Schema == schema {
			names = append(names, n.Name)
		}
	}
	return newFuzzySet(names).best(name, strict)
}

// LikeParams returns the most similar parameter list of the overloads of a function.
func LikeParams(overloads []*Routine, params []string) (string, bool) {
	var lists []string
	for _, r := range overloads {
		var names []string
		for _, p := range r.Params {
			names = append(names, p.Name)
		}
		lists = append(lists, paramList(names))
	}
	return newFuzzySet(lists).best(paramList(params), loose)
}

func paramList(names []string) string {
	return "(" + strings.Join(slices.Sorted(slices.Values(names)), ", ") + ")"
}

// LikeRelated suggests another name for parent or child if there is no relationship between them.
func (c *Cache) LikeRelated(parent, child, schema string) (wrong, right string, ok bool) {
	if _, known := c.Relationships[Name{schema, parent}]; known {
		var names []string
		for _, r := range c.Related(Name{schema, parent}, schema) {
			names = append(names, r.Foreign.Name)
		}
		for _, m := range newFuzzySet(names).matches(child, loose) {
			if m.score < 1 {
				return child, m.value, true
			}
		}
		return "", "", false
	}
	var parents []string
	for n := range c.Relationships {
		if n.Schema == schema {
			parents = append(parents, n.Name)
		}
	}
	right, ok = newFuzzySet(parents).best(parent, loose)
	return parent, right, ok
}

// Related returns the relationships of n whose other end is in a schema.
func (c *Cache) Related(n Name, schema string) []*Relationship {
	var out []*Relationship
	for _, r := range c.Relationships[n] {
		if r.In() == schema {
			out = append(out, r)
		}
	}
	return out
}

// fuzzySet finds similar strings. The cosine of the 3-gram (then 2-gram) counts selects fifty
// candidates, and the edit distance sorts them. This is the algorithm of the fuzzyset libraries, so
// the suggestions are the same as upstream's.
type fuzzySet struct {
	values []string // as given, sorted so that ties always have the same order
	lower  []string
}

func newFuzzySet(values []string) *fuzzySet {
	s := &fuzzySet{}
	seen := map[string]bool{}
	for _, v := range slices.Sorted(slices.Values(values)) {
		l := strings.ToLower(v)
		if !seen[l] {
			seen[l] = true
			s.values, s.lower = append(s.values, v), append(s.lower, l)
		}
	}
	return s
}

type match struct {
	score float64
	value string
}

// best returns the most similar value whose similarity is at least least.
func (s *fuzzySet) best(text string, least float64) (string, bool) {
	m := s.matches(text, least)
	if len(m) == 0 {
		return "", false
	}
	return m[0].value, true
}

// matches returns the values whose similarity is at least least, the most similar first.
func (s *fuzzySet) matches(text string, least float64) []match {
	text = strings.ToLower(text)
	for i, l := range s.lower {
		if l == text {
			return []match{{1, s.values[i]}}
		}
	}
	for size := 3; size >= 2; size-- {
		if m := s.bySize(text, size, least); len(m) > 0 {
			return m
		}
	}
	return nil
}

// bySize is matches with grams of one size.
func (s *fuzzySet) bySize(text string, size int, least float64) []match {
	want := grams(text, size)
	wantNorm := norm(want)
	type candidate struct {
		index int
		score float64
	}
	var found []candidate
	for i, l := range s.lower {
		have := grams(l, size)
		dot := 0
		for g, n := range want {
			dot += n * have[g]
		}
		if dot > 0 {
			found = append(found, candidate{i, float64(dot) / (wantNorm * norm(have))})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	if len(found) > 50 {
		found = found[:50]
	}
	var out []match
	for _, f := range found {
		l := s.lower[f.index]
		longest := max(len([]rune(text)), len([]rune(l)))
		score := 1 - float64(editDistance([]rune(text), []rune(l)))/float64(longest)
		if score >= least {
			out = append(out, match{score, s.values[f.index]})
		}
	}
	slices.SortStableFunc(out, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	return out
}

// grams counts the runs of size characters in "-" + text + "-", without characters other than
// letters, digits, spaces and commas.
func grams(text string, size int) map[string]int {
	kept := []rune{'-'}
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == ' ' || r == ',' {
			kept = append(kept, r)
		}
	}
	kept = append(kept, '-')
	for len(kept) < size {
		kept = append(kept, '-')
	}
	out := map[string]int{}
	for i := 0; i+size <= len(kept); i++ {
		out[string(kept[i:i+size])]++
	}
	return out
}

// norm returns the Euclidean norm of the counts.
func norm(counts map[string]int) float64 {
	sum := 0
	for n := range maps.Values(counts) {
		sum += n * n
	}
	return math.Sqrt(float64(sum))
}

// editDistance returns the Levenshtein distance.
func editDistance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ra := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, rb := range b {
			above := row[j+1]
			cost := 1
			if ra == rb {
				cost = 0
			}
			row[j+1] = min(above+1, row[j]+1, diagonal+cost)
			diagonal = above
		}
	}
	return row[len(b)]
}
