package ops

// Kind is a kind of error, to be found with errors.Is and wrapped with what it is about.
type Kind struct {
	Code string // the code that scripts tell it by (docs/json.md); "": that of what it is wrapped with
	Text string
	Hint string // what would help, as a name; the caller knows how that is asked for. "": nothing
}

// Error implements error.
func (k *Kind) Error() string { return k.Text }
