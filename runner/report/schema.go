package report

import _ "embed"

// Schema is the JSON Schema of a report of SchemaVersion.
//
//go:embed report.schema.json
var Schema []byte
