package photo

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Markers of a JPEG (ITU T.81, table B.1).
const (
	markerTEM = 0x01
	markerSOI = 0xd8
	markerEOI = 0xd9
	markerSOS = 0xda
	markerCOM = 0xfe
)

// standalone reports whether a marker has no length and no data.
func standalone(marker byte) bool { return marker == markerTEM || marker >= 0xd0 && marker <= 0xd7 }

// application reports whether a segment holds application data or a comment.
func application(marker byte) bool { return marker >= 0xe0 && marker <= 0xef || marker == markerCOM }

// decodes reports whether a segment is needed to decode the pixels: frame headers, tables,
// intervals, number of lines.
func decodes(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf || marker >= 0xdb && marker <= 0xdd
}

// segment is a marker segment before the pixels of a JPEG (ITU T.81, annex B). data includes the
// marker.
type segment struct {
	marker byte
	data   []byte
}

// jpegSegments splits a JPEG into its segments and the rest, which starts with the first scan. It
// skips bytes that belong to no segment, as decoders do.
func jpegSegments(data []byte) (segments []segment, rest []byte, err error) {
	at := 2
	for {
		next := bytes.IndexByte(data[at:], 0xff)
		if next < 0 {
			return nil, nil, fmt.Errorf("%w: broken JPEG", ErrFormat)
		}
		at += next
		for at+1 < len(data) && data[at+1] == 0xff {
			at++ // fill bytes
		}
		if at+1 < len(data) && (data[at+1] == 0 || standalone(data[at+1])) {
			at += 2
			continue
		}
		if at+4 > len(data) {
			return nil, nil, fmt.Errorf("%w: broken JPEG", ErrFormat)
		}
		marker := data[at+1]
		length := int(binary.BigEndian.Uint16(data[at+2:]))
		if marker == markerEOI || marker == markerSOI || length < 2 || at+2+length > len(data) {
			return nil, nil, fmt.Errorf("%w: broken JPEG", ErrFormat)
		}
		if marker == markerSOS {
			return segments, data[at:], nil
		}
		segments = append(segments, segment{marker, data[at : at+2+length]})
		at += 2 + length
	}
}

func probeJPEG(data []byte, info *Info) error {
	segments, _, err := jpegSegments(data)
	if err != nil {
		return err
	}
	for _, s := range segments {
		switch {
		case s.marker >= 0xc0 && s.marker <= 0xcf && s.marker != 0xc4 && s.marker != 0xc8 && s.marker != 0xcc:
			if len(s.data) < 10 {
				return fmt.Errorf("%w: broken JPEG", ErrFormat)
			}
			info.Height = int(binary.BigEndian.Uint16(s.data[5:]))
			info.Width = int(binary.BigEndian.Uint16(s.data[7:]))
			info.Progressive = s.marker == 0xc2
			info.Samples = jpegSamples(s.data[9:])
		case s.marker == 0xe1 && bytes.HasPrefix(s.data[4:], []byte("Exif\x00\x00")):
			info.Orientation = exifOrientation(s.data[10:])
		}
	}
	return nil
}

// jpegSamples returns the number of samples for two pixels, from the components of a frame header.
func jpegSamples(frame []byte) int {
	components := int(frame[0])
	if len(frame) < 1+3*components || components == 0 {
		return 8
	}
	largest, all := 1, 0
	for i := range components {
		factors := frame[1+3*i+1]
		n := int(factors>>4) * int(factors&15)
		largest = max(largest, n)
		all += n
	}
	return max(2, (2*all+largest-1)/largest)
}

// stripJPEG keeps the segments that decoders need, the plain JFIF header, Adobe's color transform
// and the colors of the color profile. The orientation becomes the only tag of a new EXIF segment.
// Data after the end of the image is cut off. A truncated image gets an end marker after the data
// that it has.
func stripJPEG(data []byte, info Info) ([]byte, error) {
	segments, rest, err := jpegSegments(data)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(data)+64)
	out = append(out, 0xff, markerSOI)
	var exif []byte
	if info.Orientation > 1 {
		exif = orientationSegment(info.Orientation)
	}
	for _, s := range segments {
		if s.marker == 0xe0 && bytes.HasPrefix(s.data[4:], []byte("JFIF\x00")) && len(s.data) >= 18 { // before EXIF
			out = append(out, 0xff, 0xe0, 0, 16)
			out = append(append(out, s.data[4:16]...), 0, 0) // no thumbnail
			break
		}
	}
	out = append(out, exif...)
	out = append(out, jpegProfile(segments)...)
	for _, s := range segments {
		switch {
		case decodes(s.marker):
			out = append(out, s.data...)
		case s.marker == 0xee && bytes.HasPrefix(s.data[4:], []byte("Adobe")) && len(s.data) >= 16:
			out = append(out, 0xff, 0xee, 0, 14)
			out = append(out, s.data[4:16]...)
		}
	}
	return appendScans(out, rest), nil
}

// appendScans appends the compressed data up to the end of the image and an end marker. It leaves
// out the segments between the scans that decoders do not need. It stops at a marker that no image
// has, and at a segment that is longer than the file.
func appendScans(out, rest []byte) []byte {
	at, kept := 0, 0 // rest[kept:at] is to be appended
	for {
		next := bytes.IndexByte(rest[at:], 0xff)
		if next < 0 || at+next+1 >= len(rest) {
			return append(append(out, rest[kept:]...), 0xff, markerEOI)
		}
		at += next
		marker := rest[at+1]
		if marker == 0xff {
			at++
			continue
		}
		if marker == 0 || marker >= 0xd0 && marker <= 0xd7 {
			at += 2
			continue
		}
		length := 0
		if at+4 <= len(rest) {
			length = int(binary.BigEndian.Uint16(rest[at+2:]))
		}
		needed := decodes(marker) || marker == markerSOS
		if !needed && !application(marker) || length < 2 || at+2+length > len(rest) {
			return append(append(out, rest[kept:at]...), 0xff, markerEOI)
		}
		if !needed {
			out = append(out, rest[kept:at]...)
			kept = at + 2 + length
		}
		at += 2 + length
	}
}

// profileHeader starts a segment with a part of a color profile (ICC.1, annex B.4). The number of
// the part and the number of parts follow.
const profileHeader = "ICC_PROFILE\x00"

// jpegProfile returns the segments of the cleaned color profile, or nil if the image has none that
// can be read.
func jpegProfile(segments []segment) []byte {
	var profile []byte
	parts := 0
	for _, s := range segments {
		if s.marker == 0xe2 && bytes.HasPrefix(s.data[4:], []byte(profileHeader)) && len(s.data) >= 18 {
			parts++
			if int(s.data[16]) != parts {
				return nil
			}
			profile = append(profile, s.data[18:]...)
		}
	}
	if parts == 0 || !scrubProfile(profile) {
		return nil
	}
	const most = 0xffff - 2 - len(profileHeader) - 2
	count := (len(profile) + most - 1) / most
	var out []byte
	for i := range count {
		part := profile[i*most : min(len(profile), (i+1)*most)]
		length := 2 + len(profileHeader) + 2 + len(part)
		out = append(out, 0xff, 0xe2, byte(length>>8), byte(length))
		out = append(append(out, profileHeader...), byte(i+1), byte(count))
		out = append(out, part...)
	}
	return out
}

// orientationTIFF returns an EXIF block with only the orientation.
func orientationTIFF(orientation int) []byte {
	tiff := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	tiff[19] = byte(orientation)
	return tiff
}

// orientationSegment returns an EXIF segment with only the orientation.
func orientationSegment(orientation int) []byte {
	body := append([]byte("Exif\x00\x00"), orientationTIFF(orientation)...)
	return append([]byte{0xff, 0xe1, byte((len(body) + 2) >> 8), byte(len(body) + 2)}, body...)
}
