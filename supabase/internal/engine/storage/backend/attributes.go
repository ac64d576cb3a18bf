package backend

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// attributePrefix returns the prefix of storage-api's extended attributes. storage-api's file
// backend can read files with these attributes. If the file system has no extended attributes they
// are omitted; the row in storage.objects has the same values.
func attributePrefix() string {
	if runtime.GOOS == "darwin" {
		return "com.apple.metadata.supabase."
	}
	return "user.supabase."
}

func setAttributes(f *os.File, o Options, etag string) {
	for name, value := range map[string]string{"content-type": o.ContentType, "cache-control": o.CacheControl,
		"etag": etag} {
		if value != "" {
			_ = unix.Fsetxattr(int(f.Fd()), attributePrefix()+name, []byte(value), 0)
		}
	}
}

func attributes(f *os.File) (o Options, etag string) {
	return Options{ContentType: attribute(f, "content-type"), CacheControl: attribute(f, "cache-control")},
		attribute(f, "etag")
}

func attribute(f *os.File, name string) string {
	buf := make([]byte, 256)
	for {
		n, err := unix.Fgetxattr(int(f.Fd()), attributePrefix()+name, buf)
		if err == unix.ERANGE && len(buf) < 1<<16 {
			buf = make([]byte, len(buf)*8)
			continue
		}
		if err != nil {
			return ""
		}
		return string(buf[:n])
	}
}
