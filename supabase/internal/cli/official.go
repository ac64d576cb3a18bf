package cli

import (
	"fmt"
	"slices"
	"strings"
)

// official reports whether the program was started under the name of the official CLI.
func (inv *Invocation) official() bool { return inv.Name == officialName }

// officialFlags declares the global flags of the official CLI that the command does not have.
// --yes answers every question; the others have no effect here.
func (inv *Invocation) officialFlags() {
	if inv.flags.Lookup("yes") == nil {
		inv.flags.BoolVar(&inv.yes, "yes", false, "")
	}
	for _, name := range []string{"debug", "experimental", "create-ticket"} {
		if inv.flags.Lookup(name) == nil {
			inv.flags.Bool(name, false, "")
		}
	}
	for _, name := range []string{"profile", "network-id", "dns-resolver", "agent", "log-level", "output-format"} {
		if inv.flags.Lookup(name) == nil {
			inv.flags.String(name, "", "")
		}
	}
}

// ignore declares flags of the official CLI that have no effect on a command. bools have no value.
func (inv *Invocation) ignore(bools []string, values ...string) {
	for _, name := range bools {
		inv.flags.Bool(name, false, "")
	}
	for _, name := range values {
		inv.flags.String(name, "", "")
	}
}

// refuse declares a flag of the official CLI whose use is an error.
func (inv *Invocation) refuse(name, reason string) {
	inv.flags.BoolFunc(name, "", func(string) error { return fmt.Errorf("--%s %s", name, reason) })
}

// hosted are the commands of the official CLI that manage projects on supabase.com.
var hosted = []string{
	"backups", "bootstrap", "branches", "domains", "encryption", "feedback", "issue", "link", "login", "logout",
	"network-bans", "network-restrictions", "notebooks", "orgs", "postgres-config", "projects", "pull", "secrets",
	"snippets", "ssl-enforcement", "sso", "telemetry", "unlink", "vanity-subdomains", "whoami",
}

// notHere returns why a command of the official CLI is missing, or "".
func notHere(name string) string {
	switch {
	case slices.Contains(hosted, name):
		return fmt.Sprintf("%s: manages projects on supabase.com; a local server needs no such command, and the official CLI has it", name)
	case name == "inspect" || name == "config":
		return fmt.Sprintf("%s: use the official CLI with --remote and the DB_URL of `daawo status -o env`", name)
	}
	return ""
}

// remoteFlag is --remote of the official CLI: alone it means the linked project, with a value a
// database.
type remoteFlag struct{ set func(url string) }

func (f remoteFlag) IsBoolFlag() bool { return true }

func (f remoteFlag) String() string { return "" }

func (f remoteFlag) Set(value string) error {
	if !strings.Contains(value, "://") {
		return usagef("there is no linked project; write --remote=URL with the connection string of the project")
	}
	f.set(value)
	return nil
}
