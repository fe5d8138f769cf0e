package csv

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:noescape
func scanAVX2(p *byte, blocks int, delimiter, quotes byte, seps, nls, quoteMask *uint64)

// scanFast is the scanner with 32-byte vectors.
func scanFast(b []byte, blocks int, delimiter byte, m *masks) {
	if blocks == 0 {
		return
	}
	_ = b[blocks*block-1]
	scanAVX2(unsafe.SliceData(b), blocks, delimiter, quote, &m.seps[0], &m.nls[0], &m.quotes[0])
}

// bestScanner is the fastest scanner this processor has.
func bestScanner() scanner {
	if cpu.X86.HasAVX2 {
		return scanFast
	}
	return scanPortable
}
