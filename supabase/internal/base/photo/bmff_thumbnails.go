package photo

// itemReference is an entry of an iref box: an item that refers to others (ISO 14496-12, 8.11.12).
type itemReference struct {
	kind string
	from uint64
	to   []uint64
}

// itemReferences returns the entries of an iref box.
func itemReferences(iref []byte) (all []itemReference, err error) {
	r := reader{b: iref}
	idSize := 2
	if r.uint(4)>>24 > 0 {
		idSize = 4
	}
	if r.failed {
		return nil, errBMFF
	}
	err = eachBox(r.b, 0, func(kind string, _ int, content []byte) error {
		r := reader{b: content}
		ref := itemReference{kind: kind, from: r.uint(idSize)}
		for range r.uint(2) {
			if ref.to = append(ref.to, r.uint(idSize)); r.failed {
				return errBMFF
			}
		}
		all = append(all, ref)
		return nil
	})
	return all, err
}

// maxThumbnailDepth is how deep the items of a thumbnail may be nested, such as the alpha of a
// grid.
const maxThumbnailDepth = 8

// thumbnails returns the ids of the thumbnails, with their tiles and auxiliary images. They may
// show what was cropped from the picture.
func thumbnails(refs []itemReference) (map[uint64]bool, error) {
	found := map[uint64]bool{}
	for _, r := range refs {
		if r.kind == "thmb" {
			found[r.from] = true
		}
	}
	for range maxThumbnailDepth {
		parts, others := map[uint64]bool{}, map[uint64]bool{} // of thumbnails, and of other images
		add := func(part uint64, of bool) {
			if of {
				parts[part] = true
			} else {
				others[part] = true
			}
		}
		for _, r := range refs {
			for _, to := range r.to {
				switch r.kind {
				case "dimg":
					add(to, found[r.from])
				case "auxl":
					add(r.from, found[to])
				}
			}
		}
		before := len(found)
		for id := range parts {
			if !others[id] {
				found[id] = true
			}
		}
		if len(found) == before {
			return found, nil
		}
	}
	return nil, errBMFF
}

// removeThumbnails makes the thumbnails items of an unknown type, which readers ignore. Their bytes
// become unused.
func (s *stripper) removeThumbnails() (err error) {
	if s.thumbnails, err = thumbnails(s.references); err != nil {
		return err
	}
	if s.thumbnails[s.primary] {
		return errBMFF
	}
	for id := range s.thumbnails {
		for _, at := range s.types[id] {
			copy(s.out[at:], "free")
		}
	}
	return nil
}
