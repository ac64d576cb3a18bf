package main

import (
	"debug/elf"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// check returns an error if Postgres could not load a module: if it needs a symbol that the server
// neither has nor imports, or a newer glibc than allowed. Headers of a newer minor cause the first.
func check(module, postgres, glibc string) error {
	known := map[string]bool{}
	program, err := elf.Open(postgres)
	if err != nil {
		return err
	}
	defer program.Close()
	symbols, err := program.DynamicSymbols()
	if err != nil {
		return err
	}
	for _, s := range symbols {
		known[s.Name] = true
	}
	lib, err := elf.Open(module)
	if err != nil {
		return err
	}
	defer lib.Close()
	if symbols, err = lib.DynamicSymbols(); err != nil {
		return err
	}
	for _, s := range symbols {
		switch {
		case s.Section != elf.SHN_UNDEF || elf.ST_BIND(s.Info) != elf.STB_GLOBAL:
		case strings.HasPrefix(s.Version, "GLIBC_"):
			if glibc != "" && newer(strings.TrimPrefix(s.Version, "GLIBC_"), glibc) {
				return fmt.Errorf("%w: this compiler makes a module that needs %s (%s)", errUnable, s.Version, s.Name)
			}
		case !known[s.Name]:
			return fmt.Errorf("%w: the embedded Postgres has no %s, which these headers use", errUnable, s.Name)
		}
	}
	return nil
}

// newer reports whether version a, such as 2.34, is above b.
func newer(a, b string) bool {
	numbers := func(v string) (n []int) {
		for part := range strings.SplitSeq(v, ".") {
			i, _ := strconv.Atoi(part)
			n = append(n, i)
		}
		return n
	}
	return slices.Compare(numbers(a), numbers(b)) > 0
}
