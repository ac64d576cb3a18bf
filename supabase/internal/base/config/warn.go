package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// warn adds the warnings about settings that are accepted but do not have the effect that their
// author expects.
func (c *Config) warn() {
	add := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	if v := c.DB.MajorVersion; v != 17 {
		add("db.major_version: is %d; Postgres 17 runs", v)
	}
	for _, key := range slices.Sorted(maps.Keys(c.unset)) {
		if !c.unsetMatters(key) {
			continue
		}
		add("%s: the variable %s is not set: set it in the environment or in .env", key, c.unset[key])
	}
	if c.smtpUnset() {
		add("auth.email.smtp: the mail server is not used, because its variables are not set")
	}
}

// unsetMatters reports whether a key with an unset variable is used: keys of a disabled provider
// are not.
func (c *Config) unsetMatters(key string) bool {
	words := strings.Split(key, ".")
	switch {
	case words[len(words)-1] == "enabled":
		return true
	case strings.HasPrefix(key, "auth.external.") && len(words) == 4:
		return c.Auth.External[words[2]].Enabled
	case strings.HasPrefix(key, "auth.email.smtp."):
		return c.Auth.Email.SMTP.Enabled
	case strings.HasPrefix(key, "auth.sms.twilio."):
		return c.Auth.SMS.Twilio.Enabled
	case strings.HasPrefix(key, "auth.third_party.") && len(words) == 4:
		return slices.ContainsFunc(c.Auth.ThirdParty.list(),
			func(t thirdParty) bool { return t.name == words[2] && t.enabled })
	case strings.HasPrefix(key, "auth.saml."):
		return c.Auth.SAML.Enabled
	case strings.HasPrefix(key, "auth.hook.") && len(words) == 4:
		return c.Auth.Hook[words[2]].Enabled
	}
	return true
}

// smtpUnset reports whether [auth.email.smtp] names variables for its host or sender that are not
// set. On loopback the development inbox is then used.
func (c *Config) smtpUnset() bool {
	_, host := c.unset["auth.email.smtp.host"]
	_, sender := c.unset["auth.email.smtp.admin_email"]
	return c.Auth.Email.SMTP.Enabled && (host || sender)
}
