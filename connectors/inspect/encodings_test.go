package inspect

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/csv"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// TestEncodings: the encoding of a text is found, and a source reads the file with it.
func TestEncodings(t *testing.T) {
	utf32 := func(s string, order binary.AppendByteOrder) string {
		var b []byte
		for _, r := range s {
			b = order.AppendUint32(b, uint32(r))
		}
		return string(b)
	}
	utf16 := func(s string, order binary.AppendByteOrder) string {
		var b []byte
		for _, r := range s {
			b = order.AppendUint16(b, uint16(r))
		}
		return string(b)
	}
	of := func(e encoding.Encoding, s string) string {
		out, err := e.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	western := "id,name\n1,Žižek café\n2,Größe, naïve\n3,“quoted” – dash\n"
	plain := "id,name\n1,x\n2,yz\n"
	for _, c := range []struct{ want, text string }{
		{"", "id,name\n1,café 日本語 Привет\n"},
		{"windows-1252", of(charmap.Windows1252, western)},
		{"windows-1252", of(charmap.Windows1252, "name\nÁÉÍ\nÖl\nà la carte\nl'été\n")},
		{"latin-1", "id,name\n1,a\x81b\n"},
		{"windows-1250", of(charmap.Windows1250, "id,imię\n1,Władysław\n2,Książka żółta\n")},
		{"windows-1251", of(charmap.Windows1251, "ид,имя\n1,Иван Петров\n2,Ольга\n")},
		{"koi8-r", of(charmap.KOI8R, "ид,имя\n1,Иван Петров\n2,Ольга\n")},
		{"shift_jis", of(japanese.ShiftJIS, "番号,名前\n1,これはテストです\n2,東京タワー\n")},
		{"euc-jp", of(japanese.EUCJP, "番号,名前\n1,これはテストです\n2,東京タワー\n")},
		{"euc-kr", of(korean.EUCKR, "번호,이름\n1,안녕하세요\n2,서울특별시\n")},
		{"gb18030", of(simplifiedchinese.GB18030, "编号,名称\n1,中华人民共和国\n2,上海市杨浦区\n")},
		{"big5", of(traditionalchinese.Big5, "編號,名稱\n1,中華民國臺灣\n2,臺北市大安區\n")},
		{"utf-16le", utf16("\uFEFF"+plain, binary.LittleEndian)},
		{"utf-16be", utf16("\uFEFF"+plain, binary.BigEndian)},
		{"utf-16le", utf16(plain, binary.LittleEndian)},
		{"utf-16be", utf16(plain, binary.BigEndian)},
		{"utf-32le", utf32("\uFEFF"+plain, binary.LittleEndian)},
		{"utf-32be", utf32("\uFEFF"+plain, binary.BigEndian)},
		{"utf-32le", utf32(plain, binary.LittleEndian)},
		{"utf-32be", utf32(plain, binary.BigEndian)},
		{"", "id,name\n1,\x00\x00\x00\n"},
	} {
		path := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		in := files.File{Path: "x.csv", Abs: path, Bytes: int64(len(c.text))}
		found, err := Look(files.Local(), in)
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		got := ""
		for _, o := range found.Options {
			if o.Name == "encoding" {
				got = o.Value
			}
		}
		if got != c.want {
			t.Errorf("%q is taken for %q, expected %q", c.text, got, c.want)
			continue
		}
		columns := connectors.Columns{}
		for _, k := range found.Columns {
			if strings.ContainsRune(k.Name, '\uFFFD') || strings.ContainsRune(k.Name, '\uFEFF') {
				t.Errorf("%s: a column %q", c.want, k.Name)
			}
		}
		form := c.want
		if form == "" {
			form = "utf-8"
		}
		if d, err := Examine(files.Local(), in); err != nil || !strings.HasPrefix(d.Form, form+", ") {
			t.Errorf("%s: %+v, %v", c.want, d, err)
		}
		_, err = csv.Infer(context.Background(), files.Local(), csv.Options{Encoding: got, Columns: columns}, []files.File{in})
		if err != nil {
			t.Errorf("%s: a source does not read it: %v", c.want, err)
		}
	}
}
