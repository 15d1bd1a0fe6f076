// SPDX-License-Identifier: Apache-2.0

package lex

import "strings"

// IsWord says whether text reads back as one `word`.
func IsWord(text string) bool {
	if text == "" || !isLetter(text[0]) {
		return false
	}
	return allBytes(text, isWordByte)
}

// IsNameWord says whether text reads back as one `name_word` in a name position.
func IsNameWord(text string) bool {
	return text != "" && isWordByte(text[0]) && allBytes(text, isNameByte) && !strings.Contains(text, "--")
}

// IsName says whether text can be a name at all, in backquotes if need be. Its length is not judged.
func IsName(text string) bool { return text != "" && allBytes(text, isNameByte) }

func allBytes(text string, ok func(byte) bool) bool {
	for i := range len(text) {
		if !ok(text[i]) {
			return false
		}
	}
	return true
}
