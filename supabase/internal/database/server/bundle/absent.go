//go:build !bundle

package bundle

const archive = ""
