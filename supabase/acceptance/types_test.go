package acceptance

import (
	"strings"
	"testing"

	"daawo/functions"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/typegen"
	"daawo/supabase/internal/functions/host"
)

// TestTypesAreFresh checks that the TypeScript types of the site match the schema.
func TestTypesAreFresh(t *testing.T) {
	var types strings.Builder
	reader := pool.Unprepared(newDatabase(t).Conn("postgres").PgConn())
	if err := typegen.Write(t.Context(), &types, reader, "typescript", "public"); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "../../web/src/backend/database.types.ts", types.String())
}

// TestFunctionTypesAreFresh checks that the site's typed client matches the functions.
func TestFunctionTypesAreFresh(t *testing.T) {
	document, err := host.OpenAPI(functions.All)
	if err != nil {
		t.Fatal(err)
	}
	var types strings.Builder
	if err := typegen.Functions(&types, document); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "../../web/src/backend/functions.types.ts", types.String())
}
