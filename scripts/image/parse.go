package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// stage is a FROM with its instructions.
type stage struct {
	name, base string
	local      bool // base is an earlier stage
	steps      []instruction
	config     config
}

// config is the configuration of an image.
type config struct {
	User       string            `json:"user"`
	Env        map[string]string `json:"env"`
	Workdir    string            `json:"workdir"`
	Entrypoint []string          `json:"entrypoint"`
	Cmd        []string          `json:"cmd"`
	Volume     string            `json:"volume"`
	Ports      []string          `json:"ports"`
}

type instruction struct {
	line  int
	name  string
	flags map[string]string // --from=x
	rest  string
}

// parse parses a Dockerfile. It returns an error for syntax that our Dockerfile does not use.
func parse(text string) ([]*stage, error) {
	arguments := map[string]string{} // of FROM
	var stages []*stage
	byName := map[string]*stage{}
	var joined string
	for n, line := range strings.Split(text, "\n") {
		if joined == "" && strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		joined += line
		if more, ok := strings.CutSuffix(joined, "\\"); ok {
			joined = more
			continue
		}
		in := split(n+1, joined)
		joined = ""
		if in.name == "" {
			continue
		}
		if in.name == "ARG" && len(stages) == 0 {
			name, value, _ := strings.Cut(in.rest, "=")
			arguments[name] = value
			continue
		}
		if in.name == "FROM" {
			words := strings.Fields(in.rest)
			if len(words) != 3 || words[1] != "AS" {
				return nil, fmt.Errorf("line %d: want FROM IMAGE AS NAME", in.line)
			}
			s := &stage{name: words[2], base: os.Expand(words[0], func(name string) string { return arguments[name] })}
			if s.base == "" {
				return nil, fmt.Errorf("line %d: %s has no default", in.line, words[0])
			}
			_, s.local = byName[s.base]
			stages, byName[s.name] = append(stages, s), s
			continue
		}
		if len(stages) == 0 {
			return nil, fmt.Errorf("line %d: %s before FROM", in.line, in.name)
		}
		last := stages[len(stages)-1]
		if from := in.flags["from"]; from != "" && byName[from] == nil {
			return nil, fmt.Errorf("line %d: no earlier stage %s", in.line, from)
		}
		last.steps = append(last.steps, in)
	}
	return stages, nil
}

// split splits an instruction into name, flags and arguments.
func split(line int, text string) instruction {
	in := instruction{line: line, flags: map[string]string{}}
	in.name, in.rest, _ = strings.Cut(strings.TrimSpace(text), " ")
	for in.rest = strings.TrimSpace(in.rest); strings.HasPrefix(in.rest, "--"); in.rest = strings.TrimSpace(in.rest) {
		var flag string
		flag, in.rest, _ = strings.Cut(in.rest, " ")
		name, value, _ := strings.Cut(flag[2:], "=")
		in.flags[name] = value
	}
	return in
}

// words parses the exec form, which needs no shell.
func (in instruction) words() (list []string, err error) {
	if err := json.Unmarshal([]byte(in.rest), &list); err != nil {
		return nil, fmt.Errorf("line %d: %s wants a JSON list", in.line, in.name)
	}
	return list, nil
}
