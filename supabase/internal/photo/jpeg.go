package photo

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// segment is a marker segment before the pixels of a JPEG (ITU T.81, annex B). data includes the marker.
type segment struct {
	marker byte
	data   []byte
}

// jpegSegments splits a JPEG into its segments and the rest, which starts with the first scan.
func jpegSegments(data []byte) (segments []segment, rest []byte, err error) {
	at := 2
	for {
		for at < len(data) && data[at] == 0xff && at+1 < len(data) && data[at+1] == 0xff {
			at++ // fill bytes
		}
		if at+4 > len(data) || data[at] != 0xff {
			return nil, nil, fmt.Errorf("%w: broken JPEG", ErrFormat)
		}
		marker := data[at+1]
		length := int(binary.BigEndian.Uint16(data[at+2:]))
		if marker == 0xd9 || length < 2 || at+2+length > len(data) {
			return nil, nil, fmt.Errorf("%w: broken JPEG", ErrFormat)
		}
		if marker == 0xda {
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

// stripJPEG removes application data and comments, except the color profile and Adobe's color transform segment. It keeps
// the orientation as the only tag of a new EXIF segment and cuts off data after the end of the image.
func stripJPEG(data []byte, info Info) ([]byte, error) {
	segments, rest, err := jpegSegments(data)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(data))
	out = append(out, 0xff, 0xd8)
	if info.Orientation > 1 {
		out = append(out, orientationSegment(info.Orientation)...)
	}
	for _, s := range segments {
		app := s.marker >= 0xe0 && s.marker <= 0xef
		keep := !app && s.marker != 0xfe ||
			s.marker == 0xe0 && bytes.HasPrefix(s.data[4:], []byte("JFIF\x00")) && len(s.data) == 18 ||
			s.marker == 0xe2 && bytes.HasPrefix(s.data[4:], []byte("ICC_PROFILE\x00")) ||
			s.marker == 0xee && bytes.HasPrefix(s.data[4:], []byte("Adobe"))
		if keep {
			out = append(out, s.data...)
		}
	}
	scans, err := jpegScans(rest)
	if err != nil {
		return nil, err
	}
	return append(out, scans...), nil
}

// jpegScans returns the compressed data up to the end of the image, without application segments in between.
func jpegScans(rest []byte) ([]byte, error) {
	out := make([]byte, 0, len(rest))
	at := 0
	for at+1 < len(rest) {
		if rest[at] != 0xff || rest[at+1] == 0 || rest[at+1] == 0xff || rest[at+1] >= 0xd0 && rest[at+1] <= 0xd7 {
			out = append(out, rest[at])
			at++
			continue
		}
		marker := rest[at+1]
		if marker == 0xd9 {
			return append(out, 0xff, 0xd9), nil
		}
		if at+4 > len(rest) {
			break
		}
		length := int(binary.BigEndian.Uint16(rest[at+2:]))
		if length < 2 || at+2+length > len(rest) {
			break
		}
		if !(marker >= 0xe0 && marker <= 0xef || marker == 0xfe) {
			out = append(out, rest[at:at+2+length]...)
		}
		at += 2 + length
	}
	return nil, fmt.Errorf("%w: JPEG without an end marker", ErrFormat)
}

// orientationSegment returns an EXIF segment with only the orientation.
func orientationSegment(orientation int) []byte {
	tiff := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	tiff[19] = byte(orientation)
	body := append([]byte("Exif\x00\x00"), tiff...)
	return append([]byte{0xff, 0xe1, byte((len(body) + 2) >> 8), byte(len(body) + 2)}, body...)
}
