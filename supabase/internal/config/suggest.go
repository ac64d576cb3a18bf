package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// nearest returns the key of fields, in the section of key, that differs from key in at most a third of its letters. "" means
// that there is none.
func nearest(key string, fields map[string]reflect.Value) string {
	section, name := "", key
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		section, name = key[:i+1], key[i+1:]
	}
	best, found := max(1, len(name)/3)+1, ""
	for _, candidate := range slices.Sorted(maps.Keys(fields)) {
		if d := distance(name, candidate); d < best {
			best, found = d, section+candidate
		}
	}
	return found
}

// distance returns the number of letters to insert, delete or replace to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
