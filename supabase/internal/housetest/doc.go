// Package housetest tests the rules of the repository: imports, package comments, sizes, words,
// dependencies, the sources of the build and the docs. docs/architecture.md and
// docs/contributing.md describe the rules. The package has tests only; nothing imports it, and of
// ours it imports nothing.
package housetest
