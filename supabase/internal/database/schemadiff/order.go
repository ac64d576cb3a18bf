package schemadiff

import (
	"cmp"
	"container/heap"
	"slices"
)

// sorted returns the objects in an order in which each comes after those that it needs, and
// otherwise by kind and name. Objects in a circle come by kind and name.
func sorted(all []Object, deps []dependency) []Object {
	slices.SortFunc(all, func(a,
		b Object) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.Key, b.Key))
	})
	at := map[id]int{}
	for i, o := range all {
		if _, taken := at[id{o.class, o.oid}]; !taken { // the object itself comes before its comments and grants
			at[id{o.class, o.oid}] = i
		}
	}
	needs := make([]map[int]bool, len(all))
	needed := make([][]int, len(all))
	add := func(from, to int) {
		if from == to {
			return
		}
		if needs[from] == nil {
			needs[from] = map[int]bool{}
		}
		if !needs[from][to] {
			needs[from][to] = true
			needed[to] = append(needed[to], from)
		}
	}
	for _, d := range deps {
		from, ok := at[d.id]
		if !ok {
			continue
		}
		all[from].needs = append(all[from].needs, need{d.on, d.column})
		if to, ok := at[d.on]; ok {
			add(from, to)
		}
	}
	tables := map[uint32]int{}
	for i, o := range all {
		if _, taken := tables[o.oid]; !taken {
			tables[o.oid] = i
		}
	}
	for i, o := range all {
		if to, ok := tables[o.subject]; ok && o.subject != 0 {
			add(i, to)
		}
		if first := at[id{o.class, o.oid}]; first != i {
			add(i, first)
		}
	}
	return topological(all, needs, needed)
}

// topological orders the objects. Among those that are free, the smallest index comes first.
func topological(all []Object, needs []map[int]bool, needed [][]int) []Object {
	free := &indexes{}
	open := map[int]bool{}
	for i := range all {
		open[i] = true
		if len(needs[i]) == 0 {
			*free = append(*free, i)
		}
	}
	heap.Init(free)
	out := make([]Object, 0, len(all))
	for len(open) > 0 {
		if free.Len() == 0 { // a circle: release the first of the rest
			for i := range all {
				if open[i] {
					heap.Push(free, i)
					break
				}
			}
		}
		i := heap.Pop(free).(int)
		if !open[i] {
			continue
		}
		delete(open, i)
		out = append(out, all[i])
		for _, j := range needed[i] {
			delete(needs[j], i)
			if len(needs[j]) == 0 && open[j] {
				heap.Push(free, j)
			}
		}
	}
	return out
}

// indexes is a heap of indexes.
type indexes []int

// Len returns the number of indexes.
func (h indexes) Len() int { return len(h) }

// Less compares two indexes.
func (h indexes) Less(i, j int) bool { return h[i] < h[j] }

// Swap exchanges two indexes.
func (h indexes) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push adds an index.
func (h *indexes) Push(x any) { *h = append(*h, x.(int)) }

// Pop removes the last index.
func (h *indexes) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
