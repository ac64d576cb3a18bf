package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Sources are the sources of settings. Overrides take precedence over Getenv, and Getenv over File.
type Sources struct {
	File      []byte                      // text of config.toml; nil means the defaults
	Name      string                      // path of config.toml, for error messages
	Dir       string                      // folder of config.toml
	ProjectID string                      // used if config.toml has no project_id; "" means daawo
	Getenv    func(string) (string, bool) // os.LookupEnv, or nil for no variables
	// variables for env(NAME) that Getenv does not have, such as .env's; may be nil
	Expand    func(string) (string, bool)
	Overrides []func(*Config) // command-line flags
	Program   Program
}

// Load reads and validates the settings. Its errors name the key or the variable and what is
// expected. Load joins all errors of a step.
func Load(s Sources) (*Config, error) {
	c := &Config{Project: defaults(), Dir: s.Dir}
	if s.ProjectID != "" {
		c.ProjectID = s.ProjectID
	}
	getenv := withDefaults(s.Getenv, s.Program.Defaults)
	defined, err := c.readFile(s)
	if err != nil {
		return nil, err
	}
	if err := c.readEnvironment(getenv, defined); err != nil {
		return nil, err
	}
	if err := c.readPages(s.Program.Pages, getenv); err != nil {
		return nil, err
	}
	for _, override := range s.Overrides {
		override(c)
	}
	c.derive(defined)
	c.warn()
	if err := errors.Join(c.validate(), c.checkOthers(s.Program.Others, getenv)); err != nil {
		return nil, err
	}
	return c, nil
}

// withDefaults looks variables up in the environment, then in defaults.
func withDefaults(getenv func(string) (string, bool), defaults map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if getenv != nil {
			if v, ok := getenv(name); ok && v != "" {
				return v, true
			}
		}
		v, ok := defaults[name]
		return v, ok
	}
}

// readEnvironment sets the variables or their defaults and applies the CLI's SUPABASE_* overrides.
func (c *Config) readEnvironment(getenv func(string) (string, bool), defined map[string]bool) error {
	var errs []error
	visit := func(f field) error {
		text := f.def
		if v, ok := getenv(f.env); ok && f.env != "" && v != "" {
			text = v
			defined[f.path] = true
		}
		if text == "" {
			return nil
		}
		if err := f.set(text); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.env, err))
		}
		return nil
	}
	if err := walk(reflect.ValueOf(c).Elem(), "", visit); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// derive sets the settings that depend on others.
func (c *Config) derive(defined map[string]bool) {
	c.SiteURL = strings.TrimRight(c.SiteURL, "/")
	c.Auth.SiteURL = cmp.Or(c.Auth.SiteURL, c.SiteURL)
	if len(c.API.Schemas) == 0 { // as in the CLI's template of 2022
		c.API.Schemas = []string{"public"}
	}
	c.ACMEEmail = cmp.Or(c.ACMEEmail, c.AdminEmail)
	if smtp := c.Auth.Email.SMTP; c.SMTP.Host == "" && smtp.Enabled && !c.smtpUnset() {
		c.SMTP = SMTP{
			Host: smtp.Host, Port: smtp.Port, User: smtp.User, Pass: smtp.Pass,
			AdminEmail: smtp.AdminEmail, SenderName: smtp.SenderName,
		}
	}
	for name, secret := range c.EdgeRuntime.Secrets { // as with the CLI, functions see them in capitals
		if upper := strings.ToUpper(name); upper != name {
			delete(c.EdgeRuntime.Secrets, name)
			c.EdgeRuntime.Secrets[upper] = secret
		}
	}
	// Open sign-up on a public address can be abused to send mail to arbitrary addresses, so it
	// must be enabled explicitly.
	if !c.Loopback() {
		if !defined["auth.enable_signup"] {
			c.Auth.EnableSignup = false
		}
		if !defined["auth.enable_anonymous_sign_ins"] {
			c.Auth.EnableAnonymousSignIns = false
		}
	}
}
