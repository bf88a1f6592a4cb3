package chat

import (
	"errors"

	"stchat/internal/jsonl"
)

// ErrDamaged is the kind of what [Chat.DamageError] returns.
var ErrDamaged = errors.New("damaged")

// damageError reads as its line's error does, PATH:LINE:COLUMN: what is wrong.
type damageError struct{ line jsonl.LineError }

func (e *damageError) Error() string   { return e.line.Error() }
func (e *damageError) Unwrap() []error { return []error{&e.line, ErrDamaged} }
