// Package complete writes scripts that complete a command line in bash, zsh and fish.
package complete

import (
	"fmt"
	"strings"
)

// Command is a command or a verb of one.
type Command struct {
	Path  []string // the command, or the command and the verb
	Short string   // one line
	Flags []Flag
}

// Flag is a flag of a command.
type Flag struct {
	Name  string // with its dashes
	Short string
	Value bool // a value follows
}

// words returns what may follow a command: its verbs and its flags.
func (c Command) words(all []Command) (words []string) {
	for _, v := range verbs(all, c) {
		words = append(words, v.Path[1])
	}
	for _, f := range c.Flags {
		words = append(words, f.Name)
	}
	return words
}

// verbs returns the verbs of a command.
func verbs(all []Command, c Command) (list []Command) {
	for _, v := range all {
		if len(v.Path) == 2 && len(c.Path) == 1 && v.Path[0] == c.Path[0] {
			list = append(list, v)
		}
	}
	return list
}

// Bash returns the script for bash. Other words are completed as files.
func Bash(program string, all []Command) string {
	var out strings.Builder
	var names []string
	for _, c := range all {
		if len(c.Path) == 1 {
			names = append(names, c.Path[0])
		}
	}
	fmt.Fprintf(&out, `# bash completion of %[1]s
_%[1]s() {
  local words i path=() current=${COMP_WORDS[COMP_CWORD]}
  for ((i = 1; i < COMP_CWORD && ${#path[@]} < 2; i++)); do
    [[ ${COMP_WORDS[i]} == -* ]] || path+=("${COMP_WORDS[i]}")
  done
  case "${path[*]}" in
`, program)
	fmt.Fprintf(&out, "  '') words=%q ;;\n", strings.Join(names, " "))
	for _, depth := range []int{2, 1} { // the verb first: a command also matches with another word after it
		for _, c := range all {
			if len(c.Path) == depth {
				pattern := "'" + strings.Join(c.Path, " ") + "'"
				if depth == 1 {
					pattern += " | '" + c.Path[0] + " '*"
				}
				fmt.Fprintf(&out, "  %s) words=%q ;;\n", pattern, strings.Join(c.words(all), " "))
			}
		}
	}
	fmt.Fprintf(&out, `  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _%[1]s %[1]s
`, program)
	return out.String()
}

// Zsh returns the script for zsh, a function for fpath. Other words are completed as files.
func Zsh(program string, all []Command) string {
	var out strings.Builder
	fmt.Fprintf(&out, `#compdef %[1]s
# zsh completion of %[1]s
local -a path_words list flags
local -i i none=1
for ((i = 2; i < CURRENT && ${#path_words} < 2; i++)); do
  [[ ${words[i]} == -* ]] || path_words+=("${words[i]}")
done
case "${path_words[*]}" in
`, program)
	entry := func(name, short string) string {
		return " " + quote(strings.ReplaceAll(name, ":", `\:`)+":"+short)
	}
	out.WriteString("'') list=(")
	for _, c := range all {
		if len(c.Path) == 1 {
			out.WriteString(entry(c.Path[0], c.Short))
		}
	}
	out.WriteString(" ) ;;\n")
	for _, depth := range []int{2, 1} {
		for _, c := range all {
			if len(c.Path) != depth {
				continue
			}
			pattern := "'" + strings.Join(c.Path, " ") + "'"
			if depth == 1 {
				pattern += "|'" + c.Path[0] + " '*"
			}
			fmt.Fprintf(&out, "%s) list=(", pattern)
			for _, v := range verbs(all, c) {
				out.WriteString(entry(v.Path[1], v.Short))
			}
			out.WriteString(" ) flags=(")
			for _, f := range c.Flags {
				out.WriteString(entry(f.Name, f.Short))
			}
			out.WriteString(" ) ;;\n")
		}
	}
	out.WriteString(`esac
_describe command list && none=0
_describe -o option flags && none=0
(( none )) && _files
`)
	return out.String()
}

// Fish returns the script for fish.
func Fish(program string, all []Command) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# fish completion of %s\n", program)
	for _, c := range all {
		condition := "__fish_use_subcommand"
		if len(c.Path) == 2 {
			condition = "__fish_seen_subcommand_from " + c.Path[0] + "; and not __fish_seen_subcommand_from"
			for _, v := range verbs(all, Command{Path: c.Path[:1]}) {
				condition += " " + v.Path[1]
			}
		}
		fmt.Fprintf(&out, "complete -c %s -n %s -a %s -d %s\n", program, quote(condition), c.Path[len(c.Path)-1],
			quote(c.Short))
		condition = "__fish_seen_subcommand_from " + c.Path[0]
		if len(c.Path) == 2 {
			condition += "; and __fish_seen_subcommand_from " + c.Path[1]
		}
		for _, f := range c.Flags {
			option := "-l " + strings.TrimPrefix(f.Name, "--")
			if !strings.HasPrefix(f.Name, "--") {
				option = "-s " + strings.TrimPrefix(f.Name, "-")
			}
			if f.Value {
				option += " -r"
			}
			fmt.Fprintf(&out, "complete -c %s -n %s %s -d %s\n", program, quote(condition), option, quote(f.Short))
		}
	}
	return out.String()
}

// quote quotes a word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
