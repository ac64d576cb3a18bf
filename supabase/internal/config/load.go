package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"
)

// Sources are the sources of settings. Overrides take precedence over Getenv, and Getenv over File.
type Sources struct {
	File      []byte                      // text of config.toml; nil means the defaults
	Name      string                      // path of config.toml, for error messages
	Dir       string                      // folder of config.toml
	Getenv    func(string) (string, bool) // os.LookupEnv, or nil for no variables
	Overrides []func(*Config)             // command-line flags
	Program   Program
}

// Load reads and validates the settings. Its errors name the key or the variable and what is expected. Load joins all
// errors of a step.
func Load(s Sources) (*Config, error) {
	c := &Config{Project: defaults(), Dir: s.Dir}
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
	if err := c.validate(); err != nil {
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

// readFile decodes config.toml over the defaults and returns the keys that the file sets.
func (c *Config) readFile(s Sources) (map[string]bool, error) {
	defined := map[string]bool{}
	if s.File == nil {
		return defined, nil
	}
	var file struct {
		Project
		Inbucket *Inbox `toml:"inbucket"`
	}
	file.Project = c.Project
	meta, err := toml.Decode(string(s.File), &file)
	if err != nil {
		var pe toml.ParseError
		if errors.As(err, &pe) {
			// Not ErrorWithPosition: it quotes lines, which may contain passwords, and panics on lines that end in \r.
			return nil, fmt.Errorf("%s: %s", s.Name, strings.TrimPrefix(pe.Error(), "toml: "))
		}
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	c.Project = file.Project
	if file.Inbucket != nil && !meta.IsDefined("local_smtp") {
		c.Inbox = *file.Inbucket
	}
	for _, key := range meta.Keys() {
		defined[key.String()] = true
	}
	for _, key := range meta.Undecoded() {
		if meta.Type(key...) != "Hash" { // list keys, not sections
			c.Unknown = append(c.Unknown, key.String())
		}
	}
	return defined, nil
}

// readEnvironment sets the variables or their defaults, applies the CLI's SUPABASE_* overrides, and expands env(NAME) in
// values of config.toml.
func (c *Config) readEnvironment(getenv func(string) (string, bool), defined map[string]bool) error {
	var errs []error
	visit := func(f field) error {
		text := f.def
		if v, ok := getenv(f.env); ok && f.env != "" && v != "" {
			text = v
			defined[f.path] = true
		}
		if text == "" {
			expand(f.value, getenv)
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

// expand replaces each string of the form env(NAME) by the variable's value, or by "" if the variable is not set.
func expand(v reflect.Value, getenv func(string) (string, bool)) {
	switch v.Kind() {
	case reflect.String:
		if name, ok := strings.CutPrefix(v.String(), "env("); ok && strings.HasSuffix(name, ")") {
			value, _ := getenv(strings.TrimSuffix(name, ")"))
			v.SetString(value)
		}
	case reflect.Slice:
		for i := range v.Len() {
			expand(v.Index(i), getenv)
		}
	}
}

// derive sets the settings that depend on others.
func (c *Config) derive(defined map[string]bool) {
	c.SiteURL = strings.TrimRight(c.SiteURL, "/")
	if c.Auth.SiteURL == "" {
		c.Auth.SiteURL = c.SiteURL
	}
	if c.ACMEEmail == "" {
		c.ACMEEmail = c.AdminEmail
	}
	if smtp := c.Auth.Email.SMTP; c.SMTP.Host == "" && smtp.Enabled {
		c.SMTP = SMTP{
			Host: smtp.Host, Port: smtp.Port, User: smtp.User, Pass: smtp.Pass,
			AdminEmail: smtp.AdminEmail, SenderName: smtp.SenderName,
		}
	}
	// Open sign-up on a public address can be abused to send mail to arbitrary addresses, so it must be enabled explicitly.
	if !c.Loopback() {
		if !defined["auth.enable_signup"] {
			c.Auth.EnableSignup = false
		}
		if !defined["auth.enable_anonymous_sign_ins"] {
			c.Auth.EnableAnonymousSignIns = false
		}
	}
}
