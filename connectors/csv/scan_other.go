//go:build !amd64

package csv

// bestScanner is the fastest scanner this processor has.
func bestScanner() scanner { return scanPortable }
