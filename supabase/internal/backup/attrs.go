package backup

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// readAttrs returns a file's own extended attributes: storage keeps the type of
// a file there. Where there are none to be had it returns nil: the database has
// the same values.
func readAttrs(f *os.File) map[string]string {
	names := make([]byte, 4096)
	n, err := unix.Flistxattr(int(f.Fd()), names)
	if err != nil || n == 0 {
		return nil
	}
	attrs := map[string]string{}
	value := make([]byte, 4096)
	for name := range strings.SplitSeq(strings.TrimRight(string(names[:n]), "\x00"), "\x00") {
		if !ours(name) {
			continue
		}
		if n, err := unix.Fgetxattr(int(f.Fd()), name, value); err == nil {
			attrs[name] = string(value[:n])
		}
	}
	if len(attrs) == 0 {
		return nil
	}
	return attrs
}

func writeAttrs(f *os.File, attrs map[string]string) {
	for name, value := range attrs {
		if ours(name) {
			_ = unix.Fsetxattr(int(f.Fd()), name, []byte(value), 0)
		}
	}
}

// ours reports whether an attribute is a program's and not the system's, such
// as an access control list.
func ours(name string) bool { return strings.Contains(name, "supabase.") }
