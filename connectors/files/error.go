package files

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// The stable classes of errors about files.
const (
	MissingFile      = "MissingFile"
	PermissionDenied = "PermissionDenied"
	DiskFull         = "DiskFull"
	SinkError        = "SinkError"
	TargetExists     = "TargetExists"
	InvalidOption    = "InvalidOption"
	ReadError        = "DamagedFile" // a file that cannot be read
)

// An Error is a failure to do something with a file.
type Error struct {
	Kind    string // stable class: see the constants
	Message string // what was being done, and what would be right
	Path    string // as a person would write it
	Cause   error
}

// Refused is a fault of the plan, at the option that the message begins with.
func Refused(format string, args ...any) error {
	return &Error{Kind: InvalidOption, Message: fmt.Sprintf(format, args...)}
}

// Error is the message with the cause; the path is part of it.
func (e *Error) Error() string {
	s := e.Message
	if e.Path != "" && !strings.Contains(s, e.Path) {
		s += " (" + e.Path + ")"
	}
	if e.Cause != nil {
		s += ": " + bare(e.Cause).Error()
	}
	return s
}

// bare is the reason without operation and path, which the message says already.
func bare(err error) error {
	for {
		var p *fs.PathError
		if !errors.As(err, &p) {
			return err
		}
		err = p.Err
	}
}

// Unwrap is the cause below.
func (e *Error) Unwrap() error { return e.Cause }

// Class is the stable class of the failure.
func (e *Error) Class() string { return e.Kind }

// Position names the file.
func (e *Error) Position() (file string, line, column int64) { return e.Path, 0, 0 }

// ReadFailure wraps an error met while reading; message says what was being done. An error that is
// an *Error already stays as it is.
func ReadFailure(err error, path, message string) error {
	return classify(err, path, message, ReadError)
}

// WriteFailure wraps an error met while writing or publishing.
func WriteFailure(err error, path, message string) error {
	return classify(err, path, message, SinkError)
}

func classify(err error, path, message, otherwise string) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	kind := otherwise
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		kind = DiskFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		kind = PermissionDenied
	case otherwise == ReadError && errors.Is(err, fs.ErrNotExist):
		kind = MissingFile
	}
	return &Error{Kind: kind, Message: message, Path: path, Cause: err}
}
