// Package password hashes passwords and checks their strength. Password hashing is slow on purpose.
// A Hasher limits the number of concurrent hashes and runs them on low-priority threads, so many
// logins do not slow down other requests.
package password

import (
	"bufio"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/scrypt"
)

// MaxLength is the longest password in bytes; bcrypt ignores the rest.
const MaxLength = 72

// errHash means that a stored or imported hash has an unknown format.
var errHash = errors.New("unknown format of password hash; use bcrypt, argon2 or Firebase scrypt")

// ErrTooLate means that a request has waited so long that its hash would end too late.
var ErrTooLate = errors.New("too little time is left for a password hash")

// Hasher hashes and compares passwords, with a limit on concurrent hashes.
type Hasher struct {
	cost   int
	slots  chan struct{}
	hashes atomic.Int64
	took   atomic.Int64 // nanoseconds of the latest hash
}

// Hashes returns how many hashes have been computed, for new passwords and for comparisons.
func (h *Hasher) Hashes() int64 { return h.hashes.Load() }

// NewHasher returns a Hasher that uses the bcrypt cost and runs at most concurrency hashes at once
// (at least 1).
func NewHasher(cost, concurrency int) *Hasher {
	return &Hasher{cost: cost, slots: make(chan struct{}, max(concurrency, 1))}
}

// wait takes a slot. After a wait it gives the slot back and returns ErrTooLate if too little time
// is left for a hash as slow as the latest one and for the reply. Without this, each request of a
// long queue gets its slot too late, and none is answered.
func (h *Hasher) wait(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < time.Duration(h.took.Load()*5/4) {
		<-h.slots
		return ErrTooLate
	}
	return nil
}

// lowPriority waits for a free slot and runs work on a low-priority thread. The thread ends with
// work, so that no other goroutine runs on it. lowPriority returns the error of work, or that of
// wait.
func (h *Hasher) lowPriority(ctx context.Context, work func() error) error {
	if err := h.wait(ctx); err != nil {
		return err
	}
	h.hashes.Add(1)
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with this goroutine
		yield()
		began := time.Now()
		err := work()
		h.took.Store(int64(time.Since(began)))
		<-h.slots
		done <- err
	}()
	return <-done
}

// Hash returns the bcrypt hash of a password.
func (h *Hasher) Hash(ctx context.Context, password string) (hash string, err error) {
	err = h.lowPriority(ctx, func() error {
		made, err := bcrypt.GenerateFromPassword([]byte(password), h.cost)
		hash = string(made)
		return err
	})
	return hash, err
}

// Matches reports whether the password has this hash, in any known format.
func (h *Hasher) Matches(ctx context.Context, hash, password string) (ok bool, err error) {
	err = h.lowPriority(ctx, func() error {
		var err error
		ok, err = matches(hash, password)
		return err
	})
	return ok, err
}

// MatchDummy takes as long as Matches with a hash made by Hash. Callers use it for unknown
// accounts, so that the time of the reply does not reveal them.
func (h *Hasher) MatchDummy(ctx context.Context, password string) error {
	_, err := h.Matches(ctx, fmt.Sprintf("$2a$%02d$%s", h.cost, dummyHash), password)
	return err
}

// dummyHash is the salt and the sum of a bcrypt hash that belongs to no known password.
const dummyHash = "DaawoDummySaltForLogin" + "NoPasswordWasHashedToThisText.."

func matches(hash, password string) (bool, error) {
	switch {
	case strings.HasPrefix(hash, "$argon2"):
		return matchesArgon2(hash, password)
	case strings.HasPrefix(hash, "$fbscrypt"):
		return matchesFirebase(hash, password)
	}
	err := bcrypt.CompareHashAndPassword([]byte(hash), []byte(password))
	if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		return false, nil
	}
	return err == nil, err
}

// Outdated reports whether the hash is a bcrypt hash whose cost is weak (the minimum) or above the
// default, and differs from the cost of new hashes. Such a hash should be replaced at the next
// login.
func (h *Hasher) Outdated(hash string) bool {
	cost, err := bcrypt.Cost([]byte(hash))
	return err == nil && (cost > bcrypt.DefaultCost || cost == bcrypt.MinCost) && cost != h.cost
}

// Check returns errHash if the format of an imported hash is unknown or its parameters are out of
// bounds.
func Check(hash string) error {
	var err error
	switch {
	case strings.HasPrefix(hash, "$argon2"):
		_, err = parseArgon2(hash)
	case strings.HasPrefix(hash, "$fbscrypt"):
		_, err = parseFirebase(hash)
	default:
		_, err = bcrypt.Cost([]byte(hash))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errHash, err)
	}
	return nil
}

var argon2Form = regexp.MustCompile(`^\$(argon2id?)\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})` +
	`(?:,keyid=[^,$]+)?(?:,data=[^$]+)?\$([A-Za-z0-9+/]+=*)\$([A-Za-z0-9+/]+=*)$`)

type argon2Hash struct {
	kind         string
	memory, time uint32
	threads      uint8
	salt, key    []byte
}

func parseArgon2(hash string) (argon2Hash, error) {
	m := argon2Form.FindStringSubmatch(hash)
	if m == nil {
		return argon2Hash{}, errors.New("malformed argon2 hash")
	}
	memory, err1 := strconv.ParseUint(m[2], 10, 32)
	passes, err2 := strconv.ParseUint(m[3], 10, 32)
	threads, err3 := strconv.ParseUint(m[4], 10, 8)
	salt, err4 := base64.RawStdEncoding.DecodeString(strings.TrimRight(m[5], "="))
	key, err5 := base64.RawStdEncoding.DecodeString(strings.TrimRight(m[6], "="))
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return argon2Hash{}, err
	}
	// Without these limits an imported hash could cost seconds of CPU time or gigabytes of memory
	// at each login.
	if passes < 1 || passes > 16 || threads < 1 || memory > 256<<10 || len(key) < 16 {
		return argon2Hash{}, errors.New("argon2 parameters out of bounds")
	}
	return argon2Hash{m[1], uint32(memory), uint32(passes), uint8(threads), salt, key}, nil
}

func matchesArgon2(hash, password string) (bool, error) {
	h, err := parseArgon2(hash)
	if err != nil {
		return false, fmt.Errorf("%w: %w", errHash, err)
	}
	derive := argon2.IDKey
	if h.kind == "argon2" || h.kind == "argon2i" {
		derive = argon2.Key
	}
	got := derive([]byte(password), h.salt, h.time, h.memory, h.threads, uint32(len(h.key)))
	return subtle.ConstantTimeCompare(got, h.key) == 1, nil
}

// firebaseForm matches hashes of Firebase. Firebase derives an AES key with scrypt and encrypts the
// signer key of the project with it; the hash is the ciphertext.
var firebaseForm = regexp.MustCompile(`^\$fbscrypt\$v=1,n=(\d{1,2}),r=(\d{1,3}),p=(\d{1,2})` +
	`(?:,ss=([A-Za-z0-9+/]+=*))?(?:,sk=([A-Za-z0-9+/]+=*))?\$([A-Za-z0-9+/]+=*)\$([A-Za-z0-9+/]+=*)$`)

type firebaseHash struct {
	memory, rounds, threads          int
	separator, signer, salt, rawHash []byte
}

func parseFirebase(hash string) (firebaseHash, error) {
	m := firebaseForm.FindStringSubmatch(hash)
	if m == nil {
		return firebaseHash{}, errors.New("malformed scrypt hash")
	}
	var f firebaseHash
	var errs [7]error
	f.memory, errs[0] = strconv.Atoi(m[1])
	f.rounds, errs[1] = strconv.Atoi(m[2])
	f.threads, errs[2] = strconv.Atoi(m[3])
	for i, to := range []*[]byte{&f.separator, &f.signer, &f.salt, &f.rawHash} {
		*to, errs[3+i] = base64.StdEncoding.DecodeString(m[4+i])
	}
	if err := errors.Join(errs[:]...); err != nil {
		return f, err
	}
	if f.memory < 1 || f.memory > 17 || f.rounds < 1 || f.rounds > 16 || f.threads < 1 || f.threads > 4 ||
		len(f.signer) == 0 {
		return f, errors.New("scrypt parameters out of bounds")
	}
	return f, nil
}

func matchesFirebase(hash, password string) (bool, error) {
	f, err := parseFirebase(hash)
	if err != nil {
		return false, fmt.Errorf("%w: %w", errHash, err)
	}
	salt := append(append([]byte{}, f.salt...), f.separator...)
	derived, err := scrypt.Key([]byte(password), salt, 1<<f.memory, f.rounds, f.threads, 32)
	if err != nil {
		return false, fmt.Errorf("%w: %w", errHash, err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return false, err
	}
	got := make([]byte, len(f.signer))
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(got, f.signer)
	return subtle.ConstantTimeCompare(got, f.rawHash) == 1, nil
}

// Rules are the requirements for new passwords.
type Rules struct {
	MinLength int      // in bytes
	Required  []string // sets of characters; a password needs at least one character of each
	// Leaked report whether a password is known to be leaked.
	Leaked []LeakCheck
}

// LeakCheck reports whether a password is known to be leaked.
type LeakCheck func(ctx context.Context, password string) (bool, error)

// LeakedFile returns the check by a file of sorted SHA-1 hashes in hex, one per line, the format of
// the public lists. Text after a colon is ignored. No password leaves the server.
func LeakedFile(file string) LeakCheck {
	return func(_ context.Context, password string) (bool, error) {
		leaked, err := isLeaked(file, password)
		if err != nil {
			return false, fmt.Errorf("read list of leaked passwords: %w", err)
		}
		return leaked, nil
	}
}

// Weakness is the reason for rejecting a password. Reasons holds GoTrue's terms: length,
// characters, pwned.
type Weakness struct {
	Message string
	Reasons []string
}

func (w *Weakness) Error() string { return w.Message }

// Judge returns nil if the password satisfies the rules, a *Weakness if not, and the error of a
// check that fails.
func (r Rules) Judge(ctx context.Context, password string) error {
	var w Weakness
	var messages []string
	if len(password) < r.MinLength {
		w.Reasons = append(w.Reasons, "length")
		messages = append(messages, fmt.Sprintf("Password should be at least %d characters.", r.MinLength))
	}
	for _, set := range r.Required {
		if set != "" && !strings.ContainsAny(password, set) {
			w.Reasons = append(w.Reasons, "characters")
			messages = append(messages, "Password should contain at least one character of each: "+
				strings.Join(r.Required, ", ")+".")
			break
		}
	}
	for _, check := range r.Leaked {
		leaked, err := check(ctx, password)
		if err != nil {
			return err
		}
		if leaked {
			w.Reasons = append(w.Reasons, "pwned")
			messages = append(messages,
				"Password is known to be weak and easy to guess, please choose a different one.")
			break
		}
	}
	if w.Reasons == nil {
		return nil
	}
	w.Message = strings.Join(messages, " ")
	return &w
}

// isLeaked reports whether the file lists the password, by binary search over its sorted lines.
func isLeaked(file, password string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	sum := sha1.Sum([]byte(password))
	want := strings.ToUpper(hex.EncodeToString(sum[:]))
	// Invariant: the line, if any, begins in [low, high).
	low, high := int64(0), info.Size()
	for low < high {
		middle := low + (high-low)/2
		line, begin, next, err := lineAt(f, middle)
		if err != nil {
			return false, err
		}
		hash, _, _ := strings.Cut(line, ":")
		switch hash = strings.ToUpper(strings.TrimSpace(hash)); {
		case hash == want:
			return true, nil
		case hash < want:
			low = next
		default:
			high = begin
		}
	}
	return false, nil
}

// lineAt returns the line that contains the byte at offset at, its offset and the offset of the
// next line.
func lineAt(f *os.File, at int64) (line string, begin, next int64, err error) {
	const longest = 128
	begin = max(0, at-longest)
	before := make([]byte, at-begin)
	if _, err := f.ReadAt(before, begin); err != nil && !errors.Is(err, io.EOF) {
		return "", 0, 0, err
	}
	if i := strings.LastIndexByte(string(before), '\n'); i >= 0 {
		begin += int64(i) + 1
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, begin, longest*2), longest*2)
	line, err = r.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", 0, 0, err
	}
	return line, begin, begin + int64(len(line)), nil
}

// Random returns a random password of at least length characters, with a character of each required
// set. It is for accounts that sign in without a password.
func Random(required []string, length int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	out := make([]byte, 0, length+len(required))
	for _, set := range required {
		if set != "" {
			out = append(out, set[pick(len(set))])
		}
	}
	for len(out) < length {
		out = append(out, letters[pick(len(letters))])
	}
	for i := len(out) - 1; i > 0; i-- {
		j := pick(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

// Code returns a random code of this many digits.
func Code(digits int) string {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	n, _ := rand.Int(rand.Reader, limit) // never fails (crypto/rand)
	return fmt.Sprintf("%0*d", digits, n)
}

func pick(n int) int {
	i, _ := rand.Int(rand.Reader, big.NewInt(int64(n))) // never fails (crypto/rand)
	return int(i.Int64())
}
