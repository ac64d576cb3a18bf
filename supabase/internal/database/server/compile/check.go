package main

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// check returns an error if Postgres could not load a module: if it needs a symbol that neither the
// server nor a library of the module has, or a newer glibc than allowed. Headers of a newer minor
// cause the first.
func (t *tools) check(ctx context.Context, module string) error {
	known := map[string]bool{}
	_, used, err := readModule(t.postgres)
	if err != nil {
		return err
	}
	for _, s := range used {
		known[s.Name] = true
	}
	libraries, symbols, err := readModule(module)
	if err != nil {
		return err
	}
	for _, name := range libraries {
		file, err := output(ctx, "/", t.compiler, "-print-file-name="+name)
		if err != nil {
			return err
		}
		if _, used, err = readModule(strings.TrimSpace(file)); err != nil {
			return err
		}
		for _, s := range used {
			known[s.Name] = known[s.Name] || s.Section != elf.SHN_UNDEF
		}
	}
	for _, s := range symbols {
		switch {
		case s.Section != elf.SHN_UNDEF || elf.ST_BIND(s.Info) != elf.STB_GLOBAL:
		case strings.HasPrefix(s.Version, "GLIBC_"):
			if t.glibc != "" && newer(strings.TrimPrefix(s.Version, "GLIBC_"), t.glibc) {
				return fmt.Errorf("%w: this compiler makes a module that needs %s (%s)", errUnable, s.Version, s.Name)
			}
		case !known[s.Name]:
			return fmt.Errorf("%w: the embedded Postgres has no %s, which these headers use", errUnable, s.Name)
		}
	}
	return nil
}

// readModule returns the libraries that a module names, and its dynamic symbols.
func readModule(file string) (libraries []string, symbols []elf.Symbol, err error) {
	module, err := elf.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer module.Close()
	libraries, err1 := module.ImportedLibraries()
	symbols, err2 := module.DynamicSymbols()
	return libraries, symbols, errors.Join(err1, err2)
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
