// Package keys holds the signing keys and API keys of an installation: it reads and writes JSON Web
// Keys, signs and verifies tokens, resolves API keys to role tokens, and rotates all of them. It is
// the only package that parses JWKs and that decides which tokens survive a rotation.
package keys
