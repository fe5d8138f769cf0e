package csv

import "github.com/seed-4b0e9f7c/runner/connectors/files"

func localFS() files.FS { return files.Local() }
