package chat

import (
	"errors"

	"stchat/internal/jsonl"
)

// ErrDamaged is wrapped by the errors that [Chat.DamageError] returns.
var ErrDamaged = errors.New("damaged")

// damageError formats as its line's error does, PATH:LINE:COLUMN: reason.
type damageError struct{ line jsonl.LineError }

func (e *damageError) Error() string   { return e.line.Error() }
func (e *damageError) Unwrap() []error { return []error{&e.line, ErrDamaged} }
