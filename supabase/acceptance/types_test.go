package acceptance

import (
	"strings"
	"testing"

	"daawo/supabase/internal/typescript"
)

// TestTypesAreFresh checks that the TypeScript types of the site match the schema.
func TestTypesAreFresh(t *testing.T) {
	var types strings.Builder
	if err := typescript.Write(t.Context(), &types, newDatabase(t).Conn("postgres"), "public"); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "../../web/src/backend/database.types.ts", types.String())
}
