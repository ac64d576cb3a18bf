package photo

import (
	"encoding/binary"
	"fmt"
	"sort"
)

var errBMFF = fmt.Errorf("%w: broken HEIF", ErrFormat)

// eachBox calls fn with the boxes of an ISO base media file (ISO 14496-12): the type, the offset of the content, and the
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

// probeBMFF recognizes HEIF and AVIF by their brands and takes the largest of the declared sizes.
func probeBMFF(data []byte, info *Info) error {
	return eachBox(data, 0, func(kind string, _ int, content []byte) error {
		switch kind {
		case "ftyp":
			if info.Format = brandFormat(content, info.Format); info.Format == Unknown {
				return ErrFormat
			}
		case "meta":
			if len(content) < 4 {
				return errBMFF
			}
			return eachNested(content[4:], []string{"iprp", "ipco", "ispe"}, info.enlarge)
		}
		return nil
	})
}

// brandFormat returns the format of the brands in an ftyp box. AVIF wins over HEIF and over the earlier format.
func brandFormat(brands []byte, format Format) Format {
	for i := 0; i+4 <= len(brands); i += 4 {
		switch string(brands[i : i+4]) {
		case "avif", "avis":
			format = AVIF
		case "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1":
			if format == Unknown {
				format = HEIF
			}
		}
	}
	return format
}

// eachNested calls fn with the content of every box at a path of box types.
func eachNested(data []byte, path []string, fn func(content []byte)) error {
	return eachBox(data, 0, func(kind string, _ int, content []byte) error {
		switch {
		case kind != path[0]:
		case len(path) > 1:
			return eachNested(content, path[1:], fn)
		default:
			fn(content)
		}
		return nil
	})
}

// enlarge takes the dimensions of an ispe box if they are larger than the present ones.
func (i *Info) enlarge(ispe []byte) {
	if len(ispe) < 12 {
		return
	}
	w, h := int(binary.BigEndian.Uint32(ispe[4:])), int(binary.BigEndian.Uint32(ispe[8:]))
	if uint64(w)*uint64(h) > uint64(i.Width)*uint64(i.Height) {
		i.Width, i.Height = w, h
	}
}

// extent is a range of the file.
type extent struct{ at, size int64 }

// stripBMFF zeroes the EXIF and XMP items and every box that the image does not need, such as XMP or the video of a motion
// photo. The file keeps its length, so all other offsets stay valid. It refuses image sequences, because their moov box
// holds both images and metadata.
func stripBMFF(data []byte) ([]byte, error) {
	s := stripper{out: append([]byte(nil), data...), private: map[uint64]bool{}, idat: -1}
	if err := s.file(data); err != nil {
		return nil, err
	}
	if err := s.items(); err != nil {
		return nil, err
	}
	return s.out, nil
}

// stripper zeroes the metadata of an ISO base media file.
type stripper struct {
	out       []byte
	private   map[uint64]bool // ids of the items with metadata
	locations []byte          // content of the iloc box
	idat      int64           // offset of the idat box's content, or -1
	blanked   []extent        // zeroed boxes, in order
}

// file zeroes the top-level boxes that the image does not need and reads the meta box.
func (s *stripper) file(data []byte) error {
	start := 0 // of the box's header
	return eachBox(data, 0, func(kind string, at int, content []byte) error {
		switch kind {
		case "ftyp", "mdat":
		case "moov":
			return errBMFF
		case "meta":
			if len(content) < 4 || s.locations != nil {
				return errBMFF
			}
			if err := s.meta(content[4:], at+4); err != nil {
				return err
			}
		default:
			s.blank(start, at, content)
		}
		start = at + len(content)
		return nil
	})
}

// meta reads the items of the meta box and zeroes its boxes that the image does not need.
func (s *stripper) meta(data []byte, base int) error {
	start := base // of the box's header
	return eachBox(data, base, func(kind string, at int, content []byte) error {
		switch kind {
		case "iinf":
			if err := privateItems(content, s.private); err != nil {
				return err
			}
		case "iloc":
			if s.locations != nil {
				return errBMFF
			}
			s.locations = content
		case "idat":
			s.idat = int64(at)
		case "hdlr", "dinf", "pitm", "iprp", "iref", "ipro", "grpl":
		default:
			s.blank(start, at, content)
		}
		start = at + len(content)
		return nil
	})
}

// blank turns a box into a free box of zeros.
func (s *stripper) blank(start, at int, content []byte) {
	copy(s.out[start+4:], "free")
	clear(s.out[at : at+len(content)])
	s.blanked = append(s.blanked, extent{int64(at), int64(len(content))})
}

// items zeroes the private items. It returns an error if a zeroed box held a part of the image.
func (s *stripper) items() error {
	private, needed, err := itemExtents(s.locations, s.private, s.idat)
	if err != nil {
		return err
	}
	size := int64(len(s.out))
	for _, e := range private {
		if e.at < 0 || e.size <= 0 || e.at > size || e.size > size-e.at { // size 0 means up to the end
			return errBMFF
		}
		clear(s.out[e.at : e.at+e.size])
	}
	for _, n := range needed {
		i := sort.Search(len(s.blanked), func(i int) bool { return s.blanked[i].at+s.blanked[i].size > n.at })
		if i < len(s.blanked) && s.blanked[i].at < n.at+n.size {
			return errBMFF
		}
	}
	return nil
}

// privateItems adds the ids of items that hold EXIF or a document such as XMP.
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
			return errBMFF // not allowed in HEIF (ISO 23008-12, 10.2): such an entry has no item type
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

// itemExtents returns the file ranges of the private items and of the others (ISO 14496-12, 8.11.3).
func itemExtents(iloc []byte, private map[uint64]bool, idat int64) (metadata, needed []extent, err error) {
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
		if extents > 1 && offsetSize+lengthSize+indexSize == 0 { // a few bytes would declare thousands of extents
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
				continue // derived from other items
			}
			if private[id] {
				metadata = append(metadata, e)
			} else {
				needed = append(needed, e)
			}
		}
		if r.failed {
			return nil, nil, errBMFF
		}
	}
	return metadata, needed, nil
}

// reader reads big-endian numbers from the start of b.
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
