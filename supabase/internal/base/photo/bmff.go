package photo

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
)

var errBMFF = fmt.Errorf("%w: broken HEIF", ErrFormat)

// eachBox calls fn with the boxes of an ISO base media file (ISO 14496-12): the type, the offset of
// the content, and the content.
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

// brandFormat returns the format of the brands in an ftyp box. AVIF wins over HEIF and over the
// earlier format.
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

// stripBMFF zeroes everything that the image does not need: EXIF, XMP and other items that are no
// images, names, properties such as descriptions and dates, boxes such as the video of a motion
// photo, thumbnails, and the bytes of mdat that belong to no item. The file keeps its length, so
// all offsets stay valid. It refuses image sequences, because their moov box holds both images and
// metadata, and images whose cropped pixels are in the file.
func stripBMFF(data []byte) ([]byte, error) {
	s := stripper{out: append([]byte(nil), data...), private: map[uint64]bool{}, types: map[uint64][]int{}, idat: -1}
	if err := s.file(data); err != nil {
		return nil, err
	}
	if err := s.removeThumbnails(); err != nil {
		return nil, err
	}
	if s.private[s.primary] || s.cropped() {
		return nil, errBMFF
	}
	if err := s.items(); err != nil {
		return nil, err
	}
	return s.out, nil
}

// imageItems are the types of items that hold or derive images (ISO 23008-12 and the specification
// of AVIF).
var imageItems = map[string]bool{
	"hvc1": true, "hev1": true, "av01": true, "avc1": true, "vvc1": true, "evc1": true, "lhv1": true, "hvt1": true,
	"j2k1": true, "unci": true, "mski": true, "grid": true, "iovl": true, "iden": true, "tmap": true,
}

// imageProperties are the properties that decoders use.
var imageProperties = map[string]bool{
	"hvcC": true, "av1C": true, "avcC": true, "vvcC": true, "evcC": true, "lhvC": true, "j2kH": true, "cmpd": true,
	"uncC": true, "ispe": true, "pixi": true, "colr": true, "pasp": true, "irot": true, "imir": true, "clap": true,
	"auxC": true, "clli": true, "mdcv": true, "cclv": true, "amve": true, "lsel": true, "a1op": true, "a1lx": true,
	"rloc": true, "oinf": true, "tols": true,
}

// stripper zeroes the metadata of an ISO base media file.
type stripper struct {
	out       []byte
	private   map[uint64]bool // ids of the items that are no images
	primary   uint64          // id of the primary item; 0 means unknown
	locations []byte          // content of the iloc box
	idat      int64           // offset of the idat box's content, or -1
	blanked   []extent        // zeroed boxes, in order
	media     []extent        // contents of mdat and idat boxes

	known      []property
	associated [][]byte // contents of the ipma boxes
	references []itemReference
	types      map[uint64][]int // offsets of the types of an item
	thumbnails map[uint64]bool  // ids
}

// file zeroes the top-level boxes that the image does not need and reads the meta box.
func (s *stripper) file(data []byte) error {
	start := 0 // of the box's header
	return eachBox(data, 0, func(kind string, at int, content []byte) error {
		switch kind {
		case "ftyp":
		case "mdat":
			s.media = append(s.media, extent{int64(at), int64(len(content))})
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
			if err := s.itemInfos(content, at); err != nil {
				return err
			}
		case "iloc":
			if s.locations != nil {
				return errBMFF
			}
			s.locations = content
		case "idat":
			s.idat = int64(at)
			s.media = append(s.media, extent{int64(at), int64(len(content))})
		case "pitm":
			s.primary = primaryItem(content)
		case "hdlr":
			if len(content) > 24 { // the name of the program
				clear(s.out[at+24 : at+len(content)])
			}
		case "iprp":
			if err := s.properties(content, at); err != nil {
				return err
			}
		case "iref":
			refs, err := itemReferences(content)
			if err != nil {
				return err
			}
			s.references = append(s.references, refs...)
		case "dinf", "ipro", "grpl":
		default:
			s.blank(start, at, content)
		}
		start = at + len(content)
		return nil
	})
}

// properties zeroes the properties that decoders do not use, and what color profiles tell about
// devices. Properties are known by their position, so each stays in its place.
func (s *stripper) properties(iprp []byte, base int) error {
	return eachBox(iprp, base, func(kind string, at int, content []byte) error {
		if kind == "ipma" {
			s.associated = append(s.associated, content)
		}
		if kind != "ipco" {
			return nil
		}
		start := at
		return eachBox(content, at, func(kind string, at int, content []byte) error {
			s.known = append(s.known, property{kind, content})
			profile := kind == "colr" && len(content) > 4 &&
				(string(content[:4]) == "prof" || string(content[:4]) == "rICC")
			if !imageProperties[kind] || profile && !scrubProfile(s.out[at+4:at+len(content)]) {
				s.blank(start, at, content)
			}
			start = at + len(content)
			return nil
		})
	})
}

// blank turns a box into a free box of zeros.
func (s *stripper) blank(start, at int, content []byte) {
	copy(s.out[start+4:], "free")
	clear(s.out[at : at+len(content)])
	s.blanked = append(s.blanked, extent{int64(at), int64(len(content))})
}

// items zeroes the items that are no images and the bytes that belong to no item. It returns an
// error if a zeroed box held a part of the image.
func (s *stripper) items() error {
	private, needed, err := itemExtents(s.locations, s.private, s.thumbnails, s.idat)
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
	for i, n := range needed {
		if n.at < 0 || n.size < 0 || n.at > size || n.size > size-n.at {
			return errBMFF
		}
		if n.size == 0 {
			n.size = size - n.at
			needed[i] = n
		}
		j := sort.Search(len(s.blanked), func(j int) bool { return s.blanked[j].at+s.blanked[j].size > n.at })
		if j < len(s.blanked) && s.blanked[j].at < n.at+n.size {
			return errBMFF
		}
	}
	s.clearUnused(needed)
	return nil
}

// clearUnused zeroes the bytes of the media boxes that belong to no item.
func (s *stripper) clearUnused(needed []extent) {
	slices.SortFunc(needed, func(a, b extent) int { return cmp.Compare(a.at, b.at) })
	for _, m := range s.media {
		at, end := m.at, m.at+m.size
		for _, n := range needed {
			if n.at > at {
				clear(s.out[at:min(n.at, end)])
			}
			if at = max(at, n.at+n.size); at >= end {
				break
			}
		}
		if at < end {
			clear(s.out[at:end])
		}
	}
}

// primaryItem returns the id in a pitm box.
func primaryItem(pitm []byte) uint64 {
	r := reader{b: pitm}
	if r.uint(4)>>24 == 0 {
		return r.uint(2)
	}
	return r.uint(4)
}

// itemInfos finds the items that are no images and zeroes the names of all items. base is the
// offset of iinf's content.
func (s *stripper) itemInfos(iinf []byte, base int) error {
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
	return eachBox(r.b, base+len(iinf)-len(r.b), func(kind string, at int, content []byte) error {
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
		s.types[id] = append(s.types[id], at+len(content)-len(r.b))
		itemType := r.bytes(4)
		if r.failed {
			return errBMFF
		}
		if !imageItems[string(itemType)] {
			s.private[id] = true
		}
		clear(s.out[at+len(content)-len(r.b) : at+len(content)])
		return nil
	})
}

// itemExtents returns the file ranges of the private items and of the needed ones, which are all
// others except the thumbnails (ISO 14496-12, 8.11.3).
func itemExtents(iloc []byte, private, thumbnails map[uint64]bool, idat int64) (metadata, needed []extent, err error) {
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
			case thumbnails[id]:
				continue
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
