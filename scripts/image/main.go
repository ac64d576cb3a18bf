// Command image builds the stages of docker/Dockerfile without Docker: each in a clean folder, from nothing but what the
// Dockerfile copies there, with the commands that it runs. What the images would hold lies in DIR/STAGE afterwards, and
// what they would start as in DIR/STAGE.json.
//
//	go run ./scripts/image [-modules DIR] [-target STAGE,…] DIR
//
// This machine's Node and Go stand in for the images that have them; the images that ours begin with are taken as empty.
// A command that changes such a system (useradd) runs in a namespace of its own over a copy-on-write view of this machine.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	file := flag.String("file", "docker/Dockerfile", "the Dockerfile; its ignore file lies beside it")
	targets := flag.String("target", "daawo,embedded", "the stages to build, with what they need")
	modules := flag.String("modules", "", "take the installed packages of this folder instead of running npm ci")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/image [-modules DIR] [-target STAGE,…] DIR")
		os.Exit(2)
	}
	if err := run(*file, strings.Split(*targets, ","), *modules, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(file string, targets []string, modules, dir string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	stages, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	ignored, err := readIgnore(file + ".dockerignore")
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	b := &builder{context: ".", ignored: ignored, dir: dir, modules: modules}
	for _, s := range needed(stages, targets) {
		if err := b.build(s); err != nil {
			return fmt.Errorf("stage %s: %w", s.name, err)
		}
		config, err := json.MarshalIndent(s.config, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, s.name+".json"), config, 0o644); err != nil {
			return err
		}
		if slices.Contains(targets, s.name) {
			bytes, files, err := size(filepath.Join(dir, s.name))
			if err != nil {
				return err
			}
			fmt.Printf("%s: %.1f MB in %d files, besides its base image\n", s.name, float64(bytes)/1e6, files)
		}
	}
	return nil
}

// needed are the targets and the stages that they build on, in the order of the file.
func needed(stages []*stage, targets []string) []*stage {
	want := map[string]bool{}
	for _, t := range targets {
		want[t] = true
	}
	var list []*stage
	for _, s := range slices.Backward(stages) {
		if !want[s.name] {
			continue
		}
		list = append(list, s)
		want[s.base] = true
		for _, in := range s.steps {
			want[in.flags["from"]] = true
		}
	}
	slices.Reverse(list)
	return list
}

func size(dir string) (bytes int64, files int, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes, files = bytes+info.Size(), files+1
		}
		return err
	})
	return bytes, files, errors.Join(err)
}
