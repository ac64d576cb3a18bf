package parts

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Source puts the archive of a part into a folder, or names a file elsewhere. It returns an error
// if this machine cannot run the part.
type Source func(ctx context.Context, p Part, dir string) (Archive, error)

// Archive is a fetched archive.
type Archive struct {
	File   string
	SHA256 string // as the publisher names it; "" if the source does not know
}

// File is the source for an archive on this machine. A manifest beside it, FILE.manifest.json
// without the ending .tar.zst, says which machines can run the part.
func File(path string) Source {
	return func(context.Context, Part, string) (Archive, error) {
		text, err := os.ReadFile(strings.TrimSuffix(path, ".tar.zst") + manifestEnding)
		if errors.Is(err, fs.ErrNotExist) {
			return Archive{File: path}, nil
		}
		if err == nil {
			err = checkManifest(text)
		}
		return Archive{File: path}, err
	}
}

// Release is the source for BASE/NAME-VERSION/NAME-VERSION-PLATFORM.tar.zst, with the digests in
// SHA256SUMS beside it. progress gets the bytes that have arrived and their number, -1 if
// it is unknown.
func Release(base string, progress func(done, total int64)) Source {
	return func(ctx context.Context, p Part, dir string) (Archive, error) {
		release := p.Name + "-" + p.Version
		stem := release + "-" + p.Platform
		folder, err := url.JoinPath(base, release)
		if err != nil {
			return Archive{}, err
		}
		name := stem + ".tar.zst"
		sum, err := publishedSum(ctx, folder, name)
		if err != nil {
			return Archive{}, err
		}
		manifest, err := fetchText(ctx, folder+"/"+stem+manifestEnding)
		if err == nil {
			err = checkManifest(manifest)
		}
		if err != nil {
			return Archive{}, err
		}
		archive := Archive{File: filepath.Join(dir, name), SHA256: sum}
		return archive, download(ctx, folder+"/"+name, archive.File, progress)
	}
}

const (
	manifestEnding = ".manifest.json"
	maxText        = 4 << 20 // bytes of a manifest or of SHA256SUMS
	maxArchive     = 2 << 30 // bytes
)

// ErrNoArchive is the error of Release if the publisher has no archive for the platform.
var ErrNoArchive = errors.New("its publisher has no archive for this platform")

// publishedSum returns the digest of a file in the SHA256SUMS of a release.
func publishedSum(ctx context.Context, folder, name string) (string, error) {
	text, err := fetchText(ctx, folder+"/SHA256SUMS")
	if err != nil {
		return "", err
	}
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 2 && strings.TrimPrefix(words[1], "*") == name {
			return strings.ToLower(words[0]), nil
		}
	}
	return "", fmt.Errorf("%w: %s does not name %s", ErrNoArchive, folder+"/SHA256SUMS", name)
}

// get opens a file of a release.
func get(ctx context.Context, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w; without a network, use --from FILE", err)
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return nil, fmt.Errorf("%s: %s", address, res.Status)
	}
	return res, nil
}

// client has no limit for a whole download, which depends on the network.
var client = &http.Client{Transport: &http.Transport{
	Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: time.Minute, ForceAttemptHTTP2: true,
}}

func fetchText(ctx context.Context, address string) ([]byte, error) {
	res, err := get(ctx, address)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxText+1))
	if err == nil && len(text) > maxText {
		err = fmt.Errorf("%s: more than %d bytes", address, maxText)
	}
	return text, err
}

// download stores a file of a release.
func download(ctx context.Context, address, to string, progress func(done, total int64)) error {
	res, err := get(ctx, address)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	in := &counter{r: io.LimitReader(res.Body, maxArchive+1), total: res.ContentLength, report: progress}
	n, err := io.Copy(f, in)
	if err == nil && n > maxArchive {
		err = fmt.Errorf("%s: more than %d bytes", address, int64(maxArchive))
	}
	return errors.Join(err, f.Close())
}

// counter reports the progress of a download.
type counter struct {
	r           io.Reader
	done, total int64
	report      func(done, total int64)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.done += int64(n)
	if c.report != nil {
		c.report(c.done, c.total)
	}
	return n, err
}

// NPM is the source for a package of npm, which the installed npm fetches and checks.
func NPM(name string) Source {
	return func(ctx context.Context, p Part, dir string) (Archive, error) {
		npm, err := exec.LookPath("npm")
		if err != nil {
			return Archive{}, errors.New("npm is not installed; with another machine's npm, run `npm pack " + name +
				"@" + p.Version + "` there and use --from FILE")
		}
		cmd := exec.CommandContext(ctx, npm, "pack", "--json", "--ignore-scripts", "--pack-destination", dir,
			name+"@"+p.Version)
		var stderr strings.Builder
		cmd.Dir, cmd.Stderr = dir, &stderr
		out, err := cmd.Output()
		if err != nil {
			return Archive{}, fmt.Errorf("npm pack %s@%s: %w; without a network, use --from FILE\n%s",
				name, p.Version, err, strings.TrimSpace(stderr.String()))
		}
		var packed []struct{ Filename string }
		if err := json.Unmarshal(out, &packed); err != nil || len(packed) != 1 {
			return Archive{}, fmt.Errorf("npm pack %s: the output names no file", name)
		}
		// npm 8 and older name a scoped package with its slash
		file := strings.ReplaceAll(strings.TrimPrefix(packed[0].Filename, "@"), "/", "-")
		return Archive{File: filepath.Join(dir, file)}, nil
	}
}
