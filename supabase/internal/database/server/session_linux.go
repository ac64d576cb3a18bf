package server

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// sessionLibrary is the file beside the programs that the postmaster loads before the C library.
//
// Each process of Postgres calls setsid(2) to lead a process group. That also gives it a scheduling
// group of its own where the kernel has autogroups (sched(7)), and Linux lets a group with little
// work wait for up to 0.1 s while others run. The library's setsid makes the process group only:
// Postgres sends its signals to groups, and needs no sessions.
const sessionLibrary = "setsid.so"

// sessionCode is setsid for each kind of machine: it returns getpid() after setpgid(0, 0), or -1.
var sessionCode = map[elf.Machine][]byte{
	elf.EM_X86_64: {
		0x31, 0xff, // xor edi, edi
		0x31, 0xf6, // xor esi, esi
		0xb8, 109, 0, 0, 0, // mov eax, SYS_setpgid
		0x0f, 0x05, // syscall
		0x85, 0xc0, // test eax, eax
		0x75, 0x08, // jne to the last two lines
		0xb8, 39, 0, 0, 0, // mov eax, SYS_getpid
		0x0f, 0x05, // syscall
		0xc3,                         // ret
		0xb8, 0xff, 0xff, 0xff, 0xff, // mov eax, -1
		0xc3, // ret
	},
	elf.EM_AARCH64: words(
		0xd2800000, // mov x0, 0
		0xd2800001, // mov x1, 0
		0xd2801348, // mov x8, SYS_setpgid
		0xd4000001, // svc 0
		0xb5000080, // cbnz x0, to the last two lines
		0xd2801588, // mov x8, SYS_getpid
		0xd4000001, // svc 0
		0xd65f03c0, // ret
		0x92800000, // mov x0, -1
		0xd65f03c0, // ret
	),
}

func words(list ...uint32) (code []byte) {
	for _, word := range list {
		code = binary.LittleEndian.AppendUint32(code, word)
	}
	return code
}

// Places in the library: code and tables, then the dynamic section in a page of its
// own, because loaders write to it.
const (
	sessionText    = 0x140
	sessionHash    = 0x180
	sessionSymbols = 0x1a0
	sessionStrings = 0x1e0
	sessionDynamic = 0x200
	sessionPage    = 0x10000 // the largest page of a kernel
)

// sessionBytes is a shared library that exports setsid and needs no other library.
func sessionBytes(machine elf.Machine) []byte {
	const strings = "\x00setsid\x00"
	code := sessionCode[machine]
	dynamic := []elf.Dyn64{
		{Tag: int64(elf.DT_HASH), Val: sessionHash},
		{Tag: int64(elf.DT_STRTAB), Val: sessionStrings},
		{Tag: int64(elf.DT_SYMTAB), Val: sessionSymbols},
		{Tag: int64(elf.DT_STRSZ), Val: uint64(len(strings))},
		{Tag: int64(elf.DT_SYMENT), Val: elf.Sym64Size},
		{Tag: int64(elf.DT_NULL)},
	}
	size := uint64(binary.Size(dynamic))
	programs := []elf.Prog64{
		{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Filesz: sessionDynamic, Memsz: sessionDynamic,
			Align: sessionPage},
		{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Off: sessionDynamic,
			Vaddr: sessionPage + sessionDynamic, Filesz: size, Memsz: size, Align: sessionPage},
		{Type: uint32(elf.PT_DYNAMIC), Flags: uint32(elf.PF_R | elf.PF_W), Off: sessionDynamic,
			Vaddr: sessionPage + sessionDynamic, Filesz: size, Memsz: size, Align: 8},
		{Type: uint32(elf.PT_GNU_STACK), Flags: uint32(elf.PF_R | elf.PF_W), Align: 16}, // not executable
	}
	header := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: uint16(len(programs)), Shentsize: 64}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	header.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	symbols := []elf.Sym64{{}, {Name: 1, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1, Value: sessionText,
		Size: uint64(len(code))}}

	file := make([]byte, sessionDynamic+size)
	for at, part := range map[int]any{
		0: header, 64: programs, sessionText: code, sessionSymbols: symbols, sessionStrings: []byte(strings),
		sessionDynamic: dynamic, sessionHash: []uint32{1, 2, 1, 0, 0}, // one bucket, two symbols
	} {
		var b bytes.Buffer
		_ = binary.Write(&b, binary.LittleEndian, part) // to memory, of fixed sizes
		copy(file[at:], b.Bytes())
	}
	return file
}

// sessionMachine is the kind of machine that the program runs on. On others Postgres keeps its
// sessions.
func sessionMachine() (machine elf.Machine, ok bool) {
	machine, ok = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	return machine, ok
}

// writeSessionLibrary writes the library into the folder of the programs.
func writeSessionLibrary(bin string) error {
	machine, ok := sessionMachine()
	if !ok {
		return nil
	}
	return os.WriteFile(filepath.Join(bin, sessionLibrary), sessionBytes(machine), 0o644)
}

// preload lets a program of Postgres load the library. It is named by a file descriptor, because a
// path in LD_PRELOAD cannot have spaces or colons. The caller closes the file after the start.
func preload(cmd *exec.Cmd) (io.Closer, error) {
	if _, ok := sessionMachine(); !ok {
		return io.NopCloser(nil), nil
	}
	f, err := os.Open(filepath.Join(filepath.Dir(cmd.Path), sessionLibrary))
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{f} // 3 in the child
	cmd.Env = append(cmd.Env, "LD_PRELOAD=/proc/self/fd/3")
	return f, nil
}
