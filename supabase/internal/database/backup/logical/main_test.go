package logical

import (
	"testing"

	"daawo/supabase/internal/database/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }
