package expr

import (
	"testing"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// TestCasing compares every character with another implementation, and words with sigmas too.
func TestCasing(t *testing.T) {
	up, low := cases.Upper(language.Und), cases.Lower(language.Und)
	check := func(s string) {
		if got, want := string(appendUpper(nil, []byte(s))), up.String(s); got != want {
			t.Errorf("%q in upper case is %q, want %q", s, got, want)
		}
		if got, want := string(appendLower(nil, []byte(s))), low.String(s); got != want {
			t.Errorf("%q in lower case is %q, want %q", s, got, want)
		}
	}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			check(string(r))
		}
	}
	for _, s := range []string{"ΟΔΟΣ", "ΟΔΟΣ ΟΔΟΣ.", "Σ", "ΑΣ'Α", "Α.Σ", "Α Σ Α", "ΣΑΣ", "A\u0301Σ\u0301", "ΑΣ1", "straße Straße", "İstanbul", "ŉ", "ﬁn"} {
		check(s)
	}
	if got := string(appendUpper(nil, []byte("\xffé\xc3"))); got != "\xffÉ\xc3" {
		t.Errorf("bytes that are no text become %q", got)
	}
}
