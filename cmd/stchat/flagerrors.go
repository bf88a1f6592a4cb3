package main

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
	name := "--" + invalid.GetFlag().Name
	cause := errors.Unwrap(invalid)
	switch {
	case isA[refusal](err):
		return usagef("%s %v", name, cause)
	case isA[*strconv.NumError](err) && invalid.GetFlag().Value.Type() == "bool":
		return usagef("%s is true or false, not %q", name, invalid.GetValue())
	case isA[*strconv.NumError](err):
		return usagef("%s takes a number, not %q", name, invalid.GetValue())
	}
	return usagef("%s: %v", name, cause)
}
