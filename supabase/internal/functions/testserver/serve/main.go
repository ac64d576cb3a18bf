// Command serve makes databases for the tests of functions in this repository, where the built
// program may be missing or older than the source. Elsewhere `daawo functions testdb` does the
// same.
package main

import (
	"context"
	"fmt"
	"os"

	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/functions/testserver"
)

func main() {
	source, err := server.FindPackage(".")
	if err == nil {
		err = testserver.Serve(context.Background(), testserver.Options{
			Source: source, Project: os.DirFS(os.Args[1]), In: os.Stdin, Out: os.Stdout,
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
