package main

// filled is a flag's text that must not be empty: an empty one mostly comes from a variable
// that is not set, and without the flag the command would do something else.
type filled struct {
	to   *string
	flag string
}

func (f filled) String() string {
	if f.to == nil {
		return ""
	}
	return *f.to
}

func (f filled) Type() string { return "string" }

// Set implements pflag.Value.
func (f filled) Set(s string) error {
	if s == "" {
		return usagef("--%s is empty", f.flag)
	}
	*f.to = s
	return nil
}
