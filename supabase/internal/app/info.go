package app

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Info is what a user of the stack needs to know: addresses and keys, under the official CLI's names.
type Info struct {
	Version string  `json:"version"`
	Data    string  `json:"data"`
	Ready   string  `json:"ready"` // time that the start took
	Values  []Value `json:"values"`
	Rest    string  `json:"-"` // where the values are that an announcement leaves out; "" is `daawo status`
	Known   bool    `json:"-"` // its secrets are the official CLI's local ones, on loopback: everybody knows them
}

// Value is one name of `status`. Those with a label are shown to people, too.
type Value struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"`
	Value string `json:"value"`
}

// Get is the value of a name, "" when there is none.
func (i Info) Get(name string) string {
	for _, v := range i.Values {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// Announcement is what may stand in a log of the start: the addresses alone, unless everybody knows the secrets. left says
// that there is more.
func (i Info) Announcement() (shown Info, left bool) {
	if i.Known {
		return i, false
	}
	shown = i
	shown.Values = slices.DeleteFunc(slices.Clone(i.Values), func(v Value) bool {
		return !strings.HasSuffix(v.Name, "_URL") || v.Name == "DB_URL" // it holds the password
	})
	return shown, len(shown.Values) < len(i.Values)
}

// Write prints the values: "env" for a shell's eval, "json" for programs, "pretty" for people.
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

// quote makes one word of a shell.
func quote(s string) string {
	if !strings.ContainsAny(s, "\"\\$`\n'") {
		return strconv.Quote(s)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// values are those of the whole stack.
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
	if s.cfg.StudioURL != "" {
		values = append(values, Value{"STUDIO_URL", "Studio", s.cfg.StudioURL})
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
