package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// wordFlag is the value of a flag that takes one of a few words.
type wordFlag struct {
	value *string
	words []string
}

// oneOf returns a [wordFlag] and sets its default.
func oneOf(value *string, standard string, words ...string) wordFlag {
	*value = standard
	return wordFlag{value, words}
}

func (c wordFlag) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c wordFlag) Type() string { return "string" }

// Set implements pflag.Value.
func (c wordFlag) Set(word string) error {
	*c.value = word
	if !slices.Contains(c.words, word) {
		return &unknownWordError{word: word, words: c.words}
	}
	return nil
}

// wordsFlag is the value of a flag that takes several of a few words, repeated or with
// commas between them.
type wordsFlag struct {
	values *[]string
	words  []string
	hint   string // where the words are listed, if they are many
}

func (c wordsFlag) String() string {
	if c.values == nil {
		return ""
	}
	return strings.Join(*c.values, ",")
}

func (c wordsFlag) Type() string { return "strings" }

// Set implements pflag.Value. An empty list adds no word; the command may refuse it.
func (c wordsFlag) Set(list string) error {
	if list == "" {
		return nil
	}
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); !slices.Contains(c.words, word) {
			return &unknownWordError{word, c.words, c.hint}
		}
		*c.values = append(*c.values, word)
	}
	return nil
}

// unknownWordError is a word that a flag does not take.
type unknownWordError struct {
	word  string
	words []string
	hint  string
}

// Error lists the words, unless they are listed elsewhere.
func (e *unknownWordError) Error() string {
	mean := didYouMean(e.word, e.words, "")
	if e.hint != "" {
		return fmt.Sprintf("does not know %q%s; %s", e.word, mean, e.hint)
	}
	last := len(e.words) - 1
	return fmt.Sprintf("is %s or %s, not %q%s", strings.Join(e.words[:last], ", "), e.words[last], e.word, mean)
}

// exclusive refuses more than one of the named flags.
func exclusive(fs *pflag.FlagSet, names ...string) error {
	first := ""
	for _, name := range names {
		switch {
		case !fs.Changed(name):
		case first == "":
			first = name
		default:
			return usagef("--%s and --%s exclude each other", first, name)
		}
	}
	return nil
}

// flagError turns pflag's errors into those that users see.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			return usagef("there is no flag -%s", name)
		}
		var flags []string
		add := func(f *pflag.Flag) { flags = append(flags, f.Name) }
		cmd.Flags().VisitAll(add)
		cmd.InheritedFlags().VisitAll(add)
		return usagef("there is no flag --%s%s", name, didYouMean(name, flags, "--"))
	}
	if empty, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usagef("--%s needs a value", empty.GetFlag().Name)
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return usagef("%v", err)
	}
	if usage, ok := errors.AsType[*usageError](err); ok {
		return usage // it names the flag itself
	}
	name := "--" + invalid.GetFlag().Name
	cause := errors.Unwrap(invalid)
	switch {
	case isA[*unknownWordError](err):
		return usagef("%s %v", name, cause)
	case isA[*strconv.NumError](err) && invalid.GetFlag().Value.Type() == "bool":
		return usagef("%s is true or false, not %q", name, invalid.GetValue())
	case isA[*strconv.NumError](err):
		return usagef("%s takes a number, not %q", name, invalid.GetValue())
	}
	return usagef("%s: %v", name, cause)
}
