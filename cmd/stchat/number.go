package main

import "strconv"

// number is a flag's whole number, written in digits: 010 is ten, and 0x1 or 1_0
// are not numbers.
type number struct {
	to    *int
	least int    // the smallest one allowed
	must  string // what the flag takes, for the error about another value
}

// String returns "" for a value below the least: the flag was not given and has no default.
func (n number) String() string {
	if n.to == nil || *n.to < n.least {
		return ""
	}
	return strconv.Itoa(*n.to)
}

func (n number) Type() string { return "int" }

// Set implements pflag.Value.
func (n number) Set(s string) error {
	value, err := strconv.Atoi(s)
	if err != nil || value < n.least {
		return usagef("%s, not %q", n.must, s)
	}
	*n.to = value
	return nil
}
