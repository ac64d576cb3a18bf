package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Size is a number of bytes in the notation of the CLI: "50MiB", "5MB", "500KB". KB and KiB both
// mean 1024 bytes.
type Size int64

// UnmarshalText parses a number with an optional unit.
func (s *Size) UnmarshalText(text []byte) error {
	in := strings.ToUpper(strings.TrimSpace(string(text)))
	number := strings.TrimRight(in, "KMGTIB ")
	unit := strings.TrimSpace(in[len(number):])
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a size; use a number with a unit, such as 50MiB", text)
	}
	var factor float64
	switch strings.TrimSuffix(strings.TrimSuffix(unit, "B"), "I") {
	case "":
		factor = 1
	case "K":
		factor = 1 << 10
	case "M":
		factor = 1 << 20
	case "G":
		factor = 1 << 30
	case "T":
		factor = 1 << 40
	default:
		return fmt.Errorf("%q is not a size; use a number with a unit, such as 50MiB", text)
	}
	if n*factor > 1<<62 {
		return fmt.Errorf("%q is too large; the largest size is 4194304TiB", text)
	}
	*s = Size(n * factor)
	return nil
}

// UnmarshalTOML parses a size or an integer number of bytes.
func (s *Size) UnmarshalTOML(v any) error {
	switch v := v.(type) {
	case string:
		return s.UnmarshalText([]byte(v))
	case int64:
		if v < 0 {
			return fmt.Errorf("%d is not a size; use 0 or more bytes", v)
		}
		*s = Size(v)
		return nil
	}
	return fmt.Errorf("%v is not a size; use a number with a unit, such as 50MiB", v)
}

// String returns the size in the largest unit that divides it.
func (s Size) String() string {
	units := []string{"", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for s != 0 && s%1024 == 0 && i < len(units)-1 {
		s, i = s/1024, i+1
	}
	return strconv.FormatInt(int64(s), 10) + units[i]
}
