package physical

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// readAttrs returns the extended attributes in which storage keeps a file's
// content type. It returns nil if the file system does not support them: the
// database has the same values.
func readAttrs(f *os.File) map[string]string {
	names := make([]byte, 4096)
	n, err := unix.Flistxattr(int(f.Fd()), names)
	if err != nil || n == 0 {
		return nil
	}
	attrs := map[string]string{}
	value := make([]byte, 4096)
	for name := range strings.SplitSeq(strings.TrimRight(string(names[:n]), "\x00"), "\x00") {
		if !isStorageAttr(name) {
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
		if isStorageAttr(name) {
			_ = unix.Fsetxattr(int(f.Fd()), name, []byte(value), 0)
		}
	}
}

// isStorageAttr reports whether storage set the attribute, as opposed to the
// system, such as an access control list.
func isStorageAttr(name string) bool { return strings.Contains(name, "supabase.") }
