package photo

import (
	"encoding/binary"
	"fmt"
	"sort"
)

var errBMFF = fmt.Errorf("%w: broken HEIF", ErrFormat)

// eachBox walks the boxes of an ISO base media file (ISO 14496-12). fn gets the type, where the content begins, and the
// content.
func eachBox(data []byte, base int, fn func(kind string, at int, content []byte) error) error {
	for pos := 0; pos < len(data); {
		if pos+8 > len(data) {
			return errBMFF
		}
		size, head := int64(binary.BigEndian.Uint32(data[pos:])), int64(8)
		switch size {
		case 0:
			size = int64(len(data) - pos)
		case 1:
			if pos+16 > len(data) {
				return errBMFF
			}
			size, head = int64(binary.BigEndian.Uint64(data[pos+8:])), 16
		}
		if size < head || size > int64(len(data)-pos) {
			return errBMFF
		}
		if err := fn(string(data[pos+4:pos+8]), base+pos+int(head), data[pos+int(head):pos+int(size)]); err != nil {
			return err
		}
		pos += int(size)
	}
	return nil
}

// probeBMFF recognises HEIF and AVIF by their brands and takes the largest of the sizes that the file declares.
func probeBMFF(data []byte, info *Info) error {
	return eachBox(data, 0, func(kind string, _ int, content []byte) error {
		switch kind {
		case "ftyp":
			for i := 0; i+4 <= len(content); i += 4 {
				switch string(content[i : i+4]) {
				case "avif", "avis":
					info.Format = AVIF
				case "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1":
					if info.Format == Unknown {
						info.Format = HEIF
					}
				}
			}
			if info.Format == Unknown {
				return ErrFormat
			}
		case "meta":
			if len(content) < 4 {
				return errBMFF
			}
			return eachBox(content[4:], 0, func(kind string, _ int, content []byte) error {
				if kind != "iprp" {
					return nil
				}
				return eachBox(content, 0, func(kind string, _ int, content []byte) error {
					if kind != "ipco" {
						return nil
					}
					return eachBox(content, 0, func(kind string, _ int, content []byte) error {
						if kind == "ispe" && len(content) >= 12 {
							w, h := int(binary.BigEndian.Uint32(content[4:])), int(binary.BigEndian.Uint32(content[8:]))
							if uint64(w)*uint64(h) > uint64(info.Width)*uint64(info.Height) {
								info.Width, info.Height = w, h
							}
						}
						return nil
					})
				})
			})
		}
		return nil
	})
}

// extent is a range of the file.
type extent struct{ at, size int64 }

// stripBMFF overwrites with zeros the bytes of the EXIF and XMP items, and every box that the picture does not need: such
// boxes hold XMP, or the video of a motion photo with its place and sound. Every other offset in the file stays true. A
// sequence, whose moov box holds both pictures and what tells about them, is refused.
func stripBMFF(data []byte) ([]byte, error) {
	out := append([]byte(nil), data...)
	private := map[uint64]bool{}
	var locations []byte
	idat := int64(-1)
	var blanked []extent
	blank := func(start, at int, content []byte) {
		copy(out[start+4:], "free")
		clear(out[at : at+len(content)])
		blanked = append(blanked, extent{int64(at), int64(len(content))})
	}
	start := 0 // of the box's header
	err := eachBox(data, 0, func(kind string, at int, content []byte) error {
		switch kind {
		case "ftyp", "mdat":
		case "moov":
			return errBMFF
		case "meta":
			if len(content) < 4 || locations != nil {
				return errBMFF
			}
			start := at + 4
			err := eachBox(content[4:], start, func(kind string, at int, content []byte) error {
				switch kind {
				case "iinf":
					if err := privateItems(content, private); err != nil {
						return err
					}
				case "iloc":
					if locations != nil {
						return errBMFF
					}
					locations = content
				case "idat":
					idat = int64(at)
				case "hdlr", "dinf", "pitm", "iprp", "iref", "ipro", "grpl":
				default:
					blank(start, at, content)
				}
				start = at + len(content)
				return nil
			})
			if err != nil {
				return err
			}
		default:
			blank(start, at, content)
		}
		start = at + len(content)
		return nil
	})
	if err != nil {
		return nil, err
	}
	secrets, needed, err := itemExtents(locations, private, idat)
	if err != nil {
		return nil, err
	}
	for _, e := range secrets {
		if e.at < 0 || e.size <= 0 || e.at > int64(len(out)) || e.size > int64(len(out))-e.at { // of size 0 is what has no end
			return nil, errBMFF
		}
		clear(out[e.at : e.at+e.size])
	}
	for _, n := range needed {
		i := sort.Search(len(blanked), func(i int) bool { return blanked[i].at+blanked[i].size > n.at })
		if i < len(blanked) && blanked[i].at < n.at+n.size {
			return nil, errBMFF // the picture would go, too
		}
	}
	return out, nil
}

// privateItems collects the ids of items that hold EXIF or a document such as XMP.
func privateItems(iinf []byte, ids map[uint64]bool) error {
	r := reader{b: iinf}
	version := r.uint(4) >> 24
	if version == 0 {
		r.uint(2)
	} else {
		r.uint(4)
	}
	if r.failed {
		return errBMFF
	}
	return eachBox(r.b, 0, func(kind string, _ int, content []byte) error {
		if kind != "infe" {
			return nil
		}
		r := reader{b: content}
		version := r.uint(4) >> 24
		if version < 2 {
			return errBMFF // HEIF has none (ISO 23008-12, 10.2): such an entry does not say what its item is
		}
		idSize := 2
		if version > 2 {
			idSize = 4
		}
		id := r.uint(idSize)
		r.uint(2)
		kind = string(r.bytes(4))
		if r.failed {
			return errBMFF
		}
		if kind == "Exif" || kind == "mime" || kind == "uri " {
			ids[id] = true
		}
		return nil
	})
}

// itemExtents reads where the private items and the others lie (ISO 14496-12, 8.11.3).
func itemExtents(iloc []byte, private map[uint64]bool, idat int64) (secrets, needed []extent, err error) {
	r := reader{b: iloc}
	version := r.uint(4) >> 24
	sizes := r.uint(2)
	offsetSize, lengthSize, baseSize, indexSize := int(sizes>>12), int(sizes>>8&15), int(sizes>>4&15), int(sizes&15)
	if version == 0 {
		indexSize = 0
	}
	idSize := 2
	if version == 2 {
		idSize = 4
	}
	items := r.uint(idSize)
	if r.failed {
		return nil, nil, errBMFF
	}
	for range items {
		id := r.uint(idSize)
		method := uint64(0)
		if version > 0 {
			method = r.uint(2) & 15
		}
		r.uint(2) // data reference
		base := int64(r.uint(baseSize))
		extents := r.uint(2)
		if extents > 1 && offsetSize+lengthSize+indexSize == 0 { // a few bytes would stand for thousands of them
			return nil, nil, errBMFF
		}
		for range extents {
			r.uint(indexSize)
			offset, length := int64(r.uint(offsetSize)), int64(r.uint(lengthSize))
			if r.failed {
				return nil, nil, errBMFF
			}
			e := extent{base + offset, length}
			switch {
			case method == 1 && idat >= 0:
				e.at += idat
			case method != 0 && private[id]:
				return nil, nil, errBMFF
			case method != 0:
				continue // made of other items
			}
			if private[id] {
				secrets = append(secrets, e)
			} else {
				needed = append(needed, e)
			}
		}
		if r.failed {
			return nil, nil, errBMFF
		}
	}
	return secrets, needed, nil
}

// reader takes big-endian numbers off the front of b.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.b) || n < 0 {
		r.failed, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) uint(n int) uint64 {
	var v uint64
	for _, b := range r.bytes(n) {
		v = v<<8 | uint64(b)
	}
	return v
}
