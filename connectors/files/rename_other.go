//go:build !linux

package files

func exchange(_, _ string) error { return ErrNotSupported }

func renameNew(_, _ string) error { return ErrNotSupported }

func writable(string) error { return nil }
