package app

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
	Version string  `json:"version"`
	Data    string  `json:"data"`
	Ready   string  `json:"ready"` // duration of the start
	Values  []Value `json:"values"`
	Rest    string  `json:"-"` // where to find the values that an announcement omits; "" means `daawo status`
	Demo    bool    `json:"-"` // its keys are the well-known local ones of the official CLI, on loopback
	Upgrade bool    `json:"-"` // an upgrade started this process
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

// values returns the values of the whole stack.
func (s *services) values() []Value {
	address := s.public
	set := s.keys.current()
	s3ID, s3Secret := s3Keys(set)
	values := []Value{
		{"SITE_URL", "Site", address},
		{"API_URL", "API", address},
		{"INSIDE_URL", "", s.inside},
		{"REST_URL", "", address + "/rest/v1"},
		{"GRAPHQL_URL", "", address + "/graphql/v1"},
		{"AUTH_URL", "", address + "/auth/v1"},
		{"STORAGE_URL", "", address + "/storage/v1"},
		{"STORAGE_S3_URL", "", address + "/storage/v1/s3"},
		{"FUNCTIONS_URL", "", address + "/functions/v1"},
		{"DB_URL", "Database", s.db.public()},
	}
	if s.Config.StudioURL != "" {
		values = append(values, Value{"STUDIO_URL", "Studio", s.Config.StudioURL})
	}
	if s.admin != "" {
		values = append(values, Value{"DESK_URL", "Desk", s.admin})
	}
	if s.inbox != "" {
		values = append(values, Value{"MAILPIT_URL", "Inbox", s.inbox}, Value{"INBUCKET_URL", "", s.inbox})
	}
	return append(values,
		Value{"PUBLISHABLE_KEY", "Publishable key", set.Publishable},
		Value{"SECRET_KEY", "Secret key", set.Secret},
		Value{"ANON_KEY", "", set.Anon},
		Value{"SERVICE_ROLE_KEY", "", set.ServiceRole},
		Value{"JWT_SECRET", "", set.JWTSecret},
		Value{"S3_PROTOCOL_ACCESS_KEY_ID", "", s3ID},
		Value{"S3_PROTOCOL_ACCESS_KEY_SECRET", "", s3Secret},
		Value{"S3_PROTOCOL_REGION", "", "local"},
	)
}
