package parquet

import "github.com/apache/arrow/go/v17/parquet/metadata"

// isStored reports whether the values of a page of the second kind are not compressed. Writers of Arrow said so
// before version 3 of pages that are; where a page has another length uncompressed, they give themselves away.
func (c *chunk) isStored(h pageHeader) bool {
	return h.stored && h.compressed == h.uncompressed && !saysStored(c.doc.meta.WriterVersion())
}

// saysStored holds for writers that said of all pages that they are not compressed.
func saysStored(v *metadata.AppVersion) bool {
	return (v.App == "parquet-cpp" || v.App == "parquet-cpp-arrow") && v.Version.Major < 3
}
