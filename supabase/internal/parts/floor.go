package parts

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// osFloor is the oldest system that an archive runs on, as its manifest names it.
type osFloor struct {
	Kind  string // glibc or macos
	Floor string // a version; "" if the archive does not depend on the system's
}

// checkManifest returns an error if this machine is older than the manifest's os_floor.
func checkManifest(text []byte) error {
	var manifest struct {
		Floor *osFloor `json:"os_floor"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return fmt.Errorf("manifest of the archive: %w", err)
	}
	if manifest.Floor == nil || manifest.Floor.Floor == "" {
		return nil
	}
	have, err := systemVersion(manifest.Floor.Kind)
	if err != nil {
		return err
	}
	return manifest.Floor.check(have)
}

// systemNames are the names of kinds in messages.
var systemNames = map[string]string{"glibc": "glibc", "macos": "macOS"}

// check returns an error if have is older than the floor. "" means that the machine has none.
func (f osFloor) check(have string) error {
	name := systemNames[f.Kind]
	if name == "" {
		return fmt.Errorf("manifest of the archive: unknown os_floor.kind %q", f.Kind)
	}
	if have == "" {
		return fmt.Errorf("the archive needs %s %s or newer, which this machine does not have", name, f.Floor)
	}
	older, err := olderThan(have, f.Floor)
	if err != nil {
		return err
	}
	if older {
		return fmt.Errorf("the archive needs %s %s or newer, and this machine has %s", name, f.Floor, have)
	}
	return nil
}

// olderThan compares versions number by number.
func olderThan(a, b string) (bool, error) {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		p, err := versionNumber(x, i)
		if err != nil {
			return false, err
		}
		q, err := versionNumber(y, i)
		if err != nil {
			return false, err
		}
		if p != q {
			return p < q, nil
		}
	}
	return false, nil
}

// versionNumber returns the i-th number of a version, 0 for a missing one.
func versionNumber(version []string, i int) (int, error) {
	if i >= len(version) {
		return 0, nil
	}
	n, err := strconv.Atoi(version[i])
	if err != nil {
		return 0, fmt.Errorf("%q is no version", strings.Join(version, "."))
	}
	return n, nil
}
