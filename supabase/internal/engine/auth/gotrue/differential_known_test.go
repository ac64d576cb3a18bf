package gotrue

import "daawo/supabase/internal/base/compare"

// knownDifferences are the differences from the real GoTrue that stay.
var knownDifferences = compare.List{}
