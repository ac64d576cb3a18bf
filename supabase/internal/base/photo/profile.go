package photo

import "encoding/binary"

// colorTags are the tags of a color profile (ICC.1:2022, clause 9) that change how pixels look.
var colorTags = map[string]bool{
	"rXYZ": true, "gXYZ": true, "bXYZ": true, "rTRC": true, "gTRC": true, "bTRC": true, "kTRC": true, "wtpt": true,
	"bkpt": true, "chad": true, "A2B0": true, "A2B1": true, "A2B2": true, "B2A0": true, "B2A1": true, "B2A2": true,
	"D2B0": true, "D2B1": true, "B2D0": true, "B2D1": true, "gamt": true, "cicp": true, "chrm": true, "lumi": true,
}

const profileHead = 128 // bytes of the header of a color profile

// scrubProfile zeroes in place what a color profile tells about the device: names, serial numbers,
// dates, texts, private tags and all bytes that belong to no tag. The profiles of displays, which
// screenshots carry, hold such data. The profile keeps its length and its colors. It returns false
// if the profile cannot be read.
func scrubProfile(p []byte) bool {
	if len(p) < profileHead+4 || string(p[36:40]) != "acsp" {
		return false
	}
	count := int64(binary.BigEndian.Uint32(p[profileHead:]))
	table := profileHead + 4 + 12*count
	if count > 200 || table > int64(len(p)) {
		return false
	}
	keep := make([]byte, len(p)) // the new profile
	for _, part := range [][2]int{{0, 4}, {8, 24}, {36, 40}, {64, 80}} {
		copy(keep[part[0]:part[1]], p[part[0]:part[1]]) // size, version, class, spaces, signature, intent, illuminant
	}
	copy(keep[profileHead:table], p[profileHead:table])
	for i := range count {
		entry := p[profileHead+4+12*i:]
		tag, at, size := string(entry[:4]), int64(binary.BigEndian.Uint32(entry[4:])),
			int64(binary.BigEndian.Uint32(entry[8:]))
		if at < table || size < 8 || at+size > int64(len(p)) {
			return false
		}
		switch {
		case colorTags[tag]:
			copy(keep[at:at+size], p[at:at+size])
		case size >= 16 && string(p[at:at+4]) == "mluc": // a text in no language
			copy(keep[at:], "mluc\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0c")
		case tag == "desc" || tag == "cprt":
			copy(keep[at:at+4], p[at:at+4]) // an empty text of the same type
		default:
			copy(keep[profileHead+4+12*i:], "\x00\x00\x00\x00") // the name of a private tag
		}
	}
	copy(p, keep)
	return true
}
