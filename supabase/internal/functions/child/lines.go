package child

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// EachLine calls each with every line of a stream, without its end, until the stream ends. Of a
// longer line it passes limit bytes. A line is valid until each returns.
func EachLine(stream io.Reader, limit int, each func(line []byte)) {
	in := bufio.NewReaderSize(stream, 16<<10)
	var begun []byte // of a line that is longer than the reader's buffer
	for {
		part, err := in.ReadSlice('\n')
		line := part
		if full := errors.Is(err, bufio.ErrBufferFull); full || len(begun) > 0 {
			begun = append(begun, part[:min(len(part), max(limit-len(begun), 0))]...)
			if full {
				continue
			}
			line, begun = begun, nil
		}
		if len(line) > 0 {
			each(bytes.TrimRight(line[:min(len(line), limit)], "\r\n"))
		}
		if err != nil {
			return
		}
	}
}
