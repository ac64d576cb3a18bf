package cli

import (
	"fmt"
	"time"

	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/keys"
)

// generateKeys prints new keys as variables.
func generateKeys(inv *Invocation) error {
	set, err := keys.Generate(time.Now())
	if err != nil {
		return err
	}
	values, err := keyring.Environment(set)
	for _, v := range values {
		fmt.Fprintf(inv.Stdout, "%s='%s'\n", v.Name, v.Value) // keys contain no single quotes
	}
	return err
}
