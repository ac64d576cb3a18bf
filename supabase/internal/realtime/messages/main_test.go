package messages

import (
	"testing"

	"daawo/supabase/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }
