package config

import (
	"errors"
	"fmt"
)

// Program is what the program that runs the stack adds to the settings.
type Program struct {
	Defaults map[string]string // of variables of the stack, instead of the stack's own
	Pages    []PageVariable    // filled into the pages of the site
	Others   []Variable        // read by functions
}

// Variable documents a variable that functions read.
type Variable struct {
	Name, Default, Doc string
	Check              func(value string) error // refuses a value at the start; nil takes every text
}

// checkOthers reads the variables that functions read into FunctionValues and checks them, so that
// a wrong value is an error at the start.
func (c *Config) checkOthers(variables []Variable, getenv func(string) (string, bool)) error {
	var errs []error
	for _, v := range variables {
		text, ok := getenv(v.Name)
		if !ok || text == "" {
			text = c.EdgeRuntime.Secrets[v.Name]
		}
		if text != "" {
			if c.FunctionValues == nil {
				c.FunctionValues = map[string]string{}
			}
			c.FunctionValues[v.Name] = text
		}
		if v.Check == nil || text == "" {
			continue
		}
		if err := v.Check(text); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", v.Name, err))
		}
	}
	return errors.Join(errs...)
}

// PageVariable is a variable of the environment whose value the site's pages show. In the pages
// __NAME__ stands for it.
type PageVariable struct {
	Name    string
	Default string                       // used until the variable is set; `doctor` warns of it on a public address
	Doc     string                       // one line for the reference of settings
	Parse   func(string) (string, error) // normalises and checks a value; nil takes every text
}

// PageValue is the value of a PageVariable in this installation.
type PageValue struct {
	Variable, Value string
	Set             bool // the value is not the default
}

// readPages fills PageValues.
func (c *Config) readPages(variables []PageVariable, getenv func(string) (string, bool)) error {
	var errs []error
	for _, v := range variables {
		value := PageValue{Variable: v.Name, Value: v.Default}
		if text, ok := getenv(v.Name); ok && text != "" {
			value.Value = text
			if v.Parse != nil {
				parsed, err := v.Parse(text)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", v.Name, err))
					continue
				}
				value.Value = parsed
			}
			value.Set = value.Value != v.Default
		}
		c.PageValues = append(c.PageValues, value)
	}
	return errors.Join(errs...)
}
