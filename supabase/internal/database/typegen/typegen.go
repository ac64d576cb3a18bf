// Package typegen writes the types of a database for programs: TypeScript for supabase-js, Go,
// Swift and Python, in the forms of postgres-meta and of `supabase gen types`.
// https://supabase.com/docs/guides/api/rest/generating-types
//
// It reads the catalogue once (metadata.go). Equal schemas give equal text, so that a project can
// check it in and a test can compare it. Functions writes a typed client of the edge functions
// from their OpenAPI document (functions.go).
package typegen

import (
	"context"
	"fmt"
	"io"
	"strings"

	"daawo/supabase/internal/database/catalog"
)

// Languages are the languages that Write knows.
var Languages = []string{"typescript", "go", "swift", "python"}

// Head is the first line of the types that Write writes. A language's comment mark precedes it.
const Head = "Written by `daawo gen types`; the database is the source."

// Write writes the types of schemas in a language.
func Write(ctx context.Context, w io.Writer, r catalog.Reader, language string, schemas ...string) error {
	m, err := ReadMetadata(ctx, r, schemas, nil)
	if err != nil {
		return err
	}
	for _, s := range schemas {
		if !m.has(s) {
			return fmt.Errorf("types: the database has no schema %q", s)
		}
	}
	mark, types := "// ", ""
	switch language {
	case "typescript":
		types = m.TypeScript(TypeScriptOptions{OneToOne: true})
	case "go":
		types = m.Go() + "\n"
	case "swift":
		types = m.Swift("internal") + "\n"
	case "python":
		mark, types = "# ", m.Python()+"\n"
	default:
		return fmt.Errorf("types: unknown language %q", language)
	}
	_, err = io.WriteString(w, mark+Head+"\n\n"+types)
	return err
}

// textLiteral returns a string literal of Python and of Swift.
func textLiteral(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text) + `"`
}

// textLiterals returns string literals of Python separated by commas.
func textLiterals(texts []string) string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = textLiteral(text)
	}
	return strings.Join(list, ", ")
}
