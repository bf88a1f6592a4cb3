package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// flagValue is the value of a flag that does not take any text.
type flagValue struct {
	set      func(text string) error // a [refusal] follows the flag's name
	shown    func() string           // nil: the value is not shown
	complete cobra.CompletionFunc    // nil: shells offer files
}

// String implements pflag.Value.
func (v flagValue) String() string {
	if v.shown == nil {
		return ""
	}
	return v.shown()
}

func (v flagValue) Type() string { return "string" }

// Set implements pflag.Value.
func (v flagValue) Set(text string) error { return v.set(text) }

// refusal is why a flag does not take a value, in words that follow the flag's name.
type refusal string

func (r refusal) Error() string { return string(r) }

// filled returns the value of a flag that must not be empty: an empty one mostly comes from a
// variable that is not set, and without the flag the command would do something else.
func filled(to *string) flagValue {
	return flagValue{shown: func() string { return *to }, set: func(text string) error {
		if *to = text; text == "" {
			return refusal("is empty")
		}
		return nil
	}}
}

// number returns the value of a flag that takes a whole number from least on, written in
// digits: 010 is ten, and 0x1 or 1_0 are not numbers. takes says what it is. A number below
// the least means that the flag was not given and has no default.
func number(to *int, least int, takes string) flagValue {
	return flagValue{
		shown: func() string {
			if *to < least {
				return ""
			}
			return strconv.Itoa(*to)
		},
		set: func(text string) error {
			n, err := strconv.Atoi(text)
			if err != nil || n < least {
				return refusal(fmt.Sprintf("takes %s, not %q", takes, text))
			}
			*to = n
			return nil
		},
	}
}

// oneOf returns the value of a flag that takes one of a few words, and sets its default.
func oneOf(to *string, standard string, words ...string) flagValue {
	*to = standard
	return flagValue{
		shown: func() string { return *to },
		set: func(word string) error {
			if *to = word; !slices.Contains(words, word) {
				return unknownWord(word, words, "")
			}
			return nil
		},
		complete: cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp),
	}
}

// someOf returns the value of a flag that takes several of a few words, repeated or with commas
// between them. An empty list adds no word; the command may refuse it. hint says where the
// words are listed, if they are many.
func someOf(to *[]string, hint string, words ...string) flagValue {
	return flagValue{
		shown: func() string { return strings.Join(*to, ",") },
		set: func(list string) error {
			if list == "" {
				return nil
			}
			for word := range strings.SplitSeq(list, ",") {
				if word = strings.TrimSpace(word); !slices.Contains(words, word) {
					return unknownWord(word, words, hint)
				}
				*to = append(*to, word)
			}
			return nil
		},
		complete: completeList(words),
	}
}

// unknownWord refuses a word, and lists those that are known unless a hint says where they are.
func unknownWord(word string, words []string, hint string) refusal {
	mean := didYouMean(word, words, "")
	if hint != "" {
		return refusal(fmt.Sprintf("does not know %q%s; %s", word, mean, hint))
	}
	last := len(words) - 1
	return refusal(fmt.Sprintf("is %s or %s, not %q%s", strings.Join(words[:last], ", "), words[last], word, mean))
}

// place returns the value of an --at that takes a message number, or a name. It refuses a name
// that looks like a number in another notation.
func place(at *int, name *string) flagValue {
	return flagValue{
		shown: func() string { return strconv.Itoa(*at) },
		set: func(text string) error {
			var named bool
			if *name, named = strings.CutPrefix(text, "name:"); named && *name != "" {
				return nil
			}
			*name = ""
			if n, err := strconv.Atoi(text); err == nil {
				*at = n
				return nil
			}
			digits := strings.TrimLeft(text, "+-")
			if digits == "" || digits[0] >= '0' && digits[0] <= '9' && strings.Trim(digits, "0123456789abcdefABCDEFxXoO_.,") == "" {
				return refusal(fmt.Sprintf("takes a message number such as 23 or -1, or a name, not %q", text))
			}
			*name = text
			return nil
		},
		complete: completePlace,
	}
}
