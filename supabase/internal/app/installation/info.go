package installation

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Info holds the addresses and keys of a running stack, under the names of the official CLI.
type Info struct {
	Version string   `json:"version"`
	Data    string   `json:"data"`
	Ready   string   `json:"ready"` // duration of the start
	Values  []Value  `json:"values"`
	Lacks   []string `json:"lacks,omitempty"` // what the jail of functions lacks on this system
	// ForeignFiles is the place of the mark of the stored files if they belong to another database.
	ForeignFiles string `json:"foreign_files,omitempty"`
	Rest         string `json:"-"` // where to find the values that an announcement omits; "" means `daawo status`
	Demo         bool   `json:"-"` // its keys are the well-known local ones of the official CLI, on loopback
	Upgrade      bool   `json:"-"` // an upgrade started this process
}

// Value is one value of `status`. The format pretty shows only values with a label.
type Value struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"`
	Value string `json:"value"`
}

// Get returns the value of a name, or "" if there is none.
func (i Info) Get(name string) string {
	for _, v := range i.Values {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// Announcement returns the values that may be printed to a log at the start: all if the keys are
// the well-known local ones, or else only addresses. hidden reports whether values were left out.
func (i Info) Announcement() (shown Info, hidden bool) {
	if i.Demo {
		return i, false
	}
	shown = i
	shown.Values = slices.DeleteFunc(slices.Clone(i.Values), func(v Value) bool {
		return !strings.HasSuffix(v.Name, "_URL") || v.Name == "DB_URL" // it contains the password
	})
	return shown, len(shown.Values) < len(i.Values)
}

// Write prints the values in a format: "env" for eval in a shell, "json" for programs, "pretty" for
// people.
func (i Info) Write(w io.Writer, format string) error {
	var out strings.Builder
	switch format {
	case "env":
		for _, v := range i.Values {
			fmt.Fprintf(&out, "%s=%s\n", v.Name, quote(v.Value))
		}
	case "json":
		values := map[string]string{}
		for _, v := range i.Values {
			values[v.Name] = v.Value
		}
		e := json.NewEncoder(&out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(values); err != nil {
			return err
		}
	default:
		for _, v := range i.Values {
			if v.Label != "" {
				fmt.Fprintf(&out, "%17s  %s\n", v.Label, v.Value)
			}
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// quote quotes s as one word for a shell.
func quote(s string) string {
	if !strings.ContainsAny(s, "\"\\$`\n'") {
		return strconv.Quote(s)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
