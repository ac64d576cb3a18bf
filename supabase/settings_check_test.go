package main

import (
	"strings"
	"testing"

	"daawo/supabase/internal/base/config"
)

// TestWrongVariablesOfFunctions checks that a wrong value of a variable that a function reads is an
// error at the start.
func TestWrongVariablesOfFunctions(t *testing.T) {
	for _, v := range program().Variables {
		for _, wrong := range []string{"many", "0", "-5", "1.5", "60 "} {
			_, err := config.Load(config.Sources{Program: settings(),
				Getenv: func(name string) (string, bool) { return wrong, name == v.Name }})
			if err == nil || !strings.Contains(err.Error(), v.Name+": ") ||
				!strings.Contains(err.Error(), "whole number of at least") {
				t.Errorf("%s=%q: %v", v.Name, wrong, err)
			}
		}
		if _, err := config.Load(config.Sources{Program: settings(),
			Getenv: func(name string) (string, bool) { return "600", name == v.Name }}); err != nil {
			t.Errorf("%s=600: %v", v.Name, err)
		}
	}
}
