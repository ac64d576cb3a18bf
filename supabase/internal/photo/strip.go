package photo

import "bytes"

// Strip returns a picture without its metadata, with the type it then has, within the default limits. ok is false if the
// file cannot be read. See edge.Env.CleanImage.
func Strip(content []byte) (clean []byte, contentType string, ok bool) {
	clean, contentType, flag, err := Clean(bytes.NewReader(content), Limits{})
	return clean, contentType, err == nil && flag != Untouched
}
