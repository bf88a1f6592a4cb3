package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"stchat/internal/choose"
	"stchat/internal/message"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

// SetOptions says what becomes of messages.
type SetOptions struct {
	Options
	Choice choose.Choice
	Values patch.Changes
	Sub    []Substitution
	// AllSwipes makes the substitutions in every swipe.
	AllSwipes bool
}

var (
	// ErrShape says that a message would no longer be one.
	ErrShape = errors.New("it would be no message that SillyTavern can show")
	// ErrSwipeID says that swipe_id is not for setting.
	ErrSwipeID = errors.New("swipe_id cannot be set: the text and the dates belong to the chosen swipe")
)

// Set changes the chosen messages. Where the text changes, the chosen swipe gets it too.
func Set(ctx context.Context, opt SetOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		p := &Plan{Taints: true, Edits: each(opt.Line)}
		err := o.chooseAndCount(ctx, opt.Choice, func(at choose.Place) error {
			p.Change = append(p.Change, at)
			return nil
		})
		if err == nil && len(p.Change) == 0 {
			err = o.errorf("%w", choose.ErrNone)
		}
		return p, err
	})
}

// Line makes the changes in one message.
func (opt *SetOptions) Line(line []byte) ([]byte, error) {
	edited, err := opt.Values.Apply(line)
	if err != nil {
		return nil, err
	}
	for _, s := range opt.Sub {
		if edited, err = s.apply(edited, opt.AllSwipes); err != nil {
			return nil, err
		}
	}
	return judged(line, edited)
}

// judgedKeys returns the values of those keys of a message that judged looks at: a line
// may have millions of others.
func judgedKeys(line []byte) map[string][]byte {
	values := map[string][]byte{}
	for key, value := range rawjson.Members(line) {
		for _, name := range []string{"name", "is_user", "mes", "swipe_id", "swipes"} {
			if rawjson.KeyIs(key, name) {
				values[name] = value
			}
		}
	}
	return values
}

// judged refuses an edit by which a message would stop being one, and puts a text that
// was edited into the chosen swipe.
func judged(line, edited []byte) ([]byte, error) {
	if bytes.Equal(line, edited) {
		return line, nil
	}
	if kind := rawjson.KindOf(edited); kind != rawjson.ObjectKind {
		return nil, fmt.Errorf("%w: it would be %s", ErrShape, kind)
	}
	was, is := judgedKeys(line), judgedKeys(edited)
	same := func(key string) bool {
		old, had := was[key]
		value, has := is[key]
		return had == has && bytes.Equal(old, value)
	}
	if !same("swipe_id") {
		return nil, ErrSwipeID
	}
	for key, kind := range map[string]rawjson.Kind{"mes": rawjson.String, "name": rawjson.String, "is_user": rawjson.Bool} {
		if raw := is[key]; !same(key) && rawjson.KindOf(raw) != kind {
			return nil, fmt.Errorf("%w: %s would be %s", ErrShape, key, rawjson.KindOf(raw))
		}
	}
	if !same("swipes") {
		if err := message.CheckChosen(edited); err != nil {
			return nil, err
		}
	}
	if same("mes") {
		return edited, nil
	}
	return message.SyncText(edited), nil
}
