// Command image builds the stages of docker/Dockerfile without Docker: each in an empty folder,
// with only the files that the Dockerfile copies, by the commands that it runs. DIR/STAGE then
// holds the files of the image, and DIR/STAGE.json its configuration.
//
//	go run ./scripts/image [-modules DIR] [-target STAGE,…] DIR
//
// It uses this machine's Node and Go and treats the base images as empty. A command that changes
// the base system (useradd) runs in its own namespace over a copy-on-write view of this machine.
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
	file := flag.String("file", "docker/Dockerfile", "the Dockerfile; its ignore file is in the same folder")
	targets := flag.String("target", "daawo,embedded", "the stages to build, with the stages that they need")
	modules := flag.String("modules", "", "use the installed packages of this folder instead of npm ci")
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
	b := &builder{context: ".", ignored: ignored, dir: dir, modules: modules, partial: map[string]bool{}}
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
			fmt.Printf("%s: %.1f MB in %d files, without its base image\n", s.name, float64(bytes)/1e6, files)
		}
	}
	return nil
}

// needed returns the targets and the stages that they depend on, in file order.
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
