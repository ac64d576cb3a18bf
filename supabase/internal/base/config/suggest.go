package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// nearest returns the key of fields, in the section of key, that differs from key in at most a
// third of its letters. "" means that there is none.
func nearest(key string, fields map[string]reflect.Value) string {
	section, name := "", key
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		section, name = key[:i+1], key[i+1:]
	}
	if near := Nearest(name, slices.Sorted(maps.Keys(fields))); near != "" {
		return section + near
	}
	return ""
}

// Nearest returns the first of the names that differ least from name, in at most a third of its
// letters. "" means that there is none.
func Nearest(name string, names []string) string {
	best, found := max(1, len(name)/3)+1, ""
	for _, candidate := range names {
		if d := distance(name, candidate); d < best {
			best, found = d, candidate
		}
	}
	return found
}

// distance returns the number of letters to insert, delete, replace or exchange with their
// neighbour to turn a into b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			rows[i][j] = min(cost, rows[i][j-1]+1, rows[i-1][j]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
