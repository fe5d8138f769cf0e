package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func exchange(a, b string) error { return renameat2(a, b, unix.RENAME_EXCHANGE) }

func renameNew(from, to string) error { return renameat2(from, to, unix.RENAME_NOREPLACE) }

// renameat2 says ErrNotSupported where kernel or file system do not know the flag.
func renameat2(from, to string, flag uint) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flag)
	if err == nil {
		return nil
	}
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return ErrNotSupported
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
}

func writable(path string) error { return unix.Access(path, unix.W_OK|unix.X_OK) }
