package photo

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Format is an image format.
type Format int

// The formats.
const (
	Unknown Format = iota
	JPEG
	PNG
	GIF
	WebP
	BMP
	HEIF // HEIC and HEIF
	AVIF
)

// ContentType returns the MIME type of the format.
func (f Format) ContentType() string {
	switch f {
	case JPEG:
		return "image/jpeg"
	case PNG:
		return "image/png"
	case GIF:
		return "image/gif"
	case WebP:
		return "image/webp"
	case BMP:
		return "image/bmp"
	case HEIF:
		return "image/heic"
	case AVIF:
		return "image/avif"
	}
	return "application/octet-stream"
}

// Info is what a file's headers declare.
type Info struct {
	Format        Format
	Width, Height int // as stored; orientations 5 to 8 swap them
	Orientation   int // EXIF's 1 to 8; 1 is upright
	Frames        int // 2 stands for more than one
	Progressive   bool
	Deep          bool // 16 bits per channel
	Samples       int  // JPEG: samples per two pixels (2 for gray, 3 for 4:2:0, 6 for 4:4:4)
}

// Probe returns the format and the dimensions.
func Probe(data []byte) (Info, error) {
	info := Info{Orientation: 1, Frames: 1}
	var err error
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xd8, 0xff}):
		info.Format = JPEG
		err = probeJPEG(data, &info)
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		info.Format = PNG
		err = probePNG(data, &info)
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		info.Format = GIF
		err = probeGIF(data, &info)
	case len(data) > 16 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		info.Format = WebP
		err = probeWebP(data, &info)
	case len(data) > 26 && string(data[:2]) == "BM":
		info.Format = BMP
		info.Width = int(int32(binary.LittleEndian.Uint32(data[18:])))
		info.Height = int(int32(binary.LittleEndian.Uint32(data[22:])))
		info.Height = max(info.Height, -info.Height) // negative: rows from the top
	case len(data) > 16 && string(data[4:8]) == "ftyp":
		err = probeBMFF(data, &info)
	default:
		return info, ErrFormat
	}
	if err != nil {
		return info, err
	}
	if info.Width <= 0 || info.Height <= 0 || info.Width > 1<<20 || info.Height > 1<<20 {
		return info, fmt.Errorf("%w: %d × %d", ErrFormat, info.Width, info.Height)
	}
	return info, nil
}

// exifOrientation returns the orientation of an EXIF block (TIFF 6.0 structure, tag 0x0112).
func exifOrientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	entries := int64(order.Uint16(tiff[at:]))
	for i := range entries {
		entry := at + 2 + i*12
		if entry+12 > int64(len(tiff)) {
			return 1
		}
		if order.Uint16(tiff[entry:]) == 0x0112 {
			if v := int(order.Uint16(tiff[entry+8:])); v >= 1 && v <= 8 {
				return v
			}
			return 1
		}
	}
	return 1
}
