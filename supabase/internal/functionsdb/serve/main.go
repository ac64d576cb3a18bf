// Command serve makes databases for the tests of functions in this repository, where the built program may be missing or older
// than the source. Elsewhere `daawo functions testdb` does the same.
package main

import (
	"context"
	"fmt"
	"os"

	"daawo/supabase/internal/functionsdb"
	"daawo/supabase/internal/postgres"
)

func main() {
	source, err := postgres.FindPackage(".")
	if err == nil {
		err = functionsdb.Serve(context.Background(), functionsdb.Options{
			Source: source, Project: os.DirFS(os.Args[1]), In: os.Stdin, Out: os.Stdout,
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
