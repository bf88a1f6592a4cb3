package ops

import (
	"errors"
	"fmt"
	"strings"

	"stchat/internal/isolate"
	"stchat/internal/lorebook"
	"stchat/internal/rawjson"
	"stchat/internal/require"
)

// ErrRequirement says that a --require does not hold.
var ErrRequirement = errors.New("required")

// judge refuses a chat whose state at the last message is not as required.
func (j *cutJob) judge(md *rawjson.Object, facts *isolate.Facts) error {
	if len(j.State.Require) == 0 {
		return nil
	}
	book, err := j.judgedBook(md)
	if err != nil {
		return err
	}
	results, err := require.Judge(j.State.Require, require.State{
		At: j.at, Scene: facts.Scene(), Metadata: md, Book: book,
	})
	if err != nil {
		return err
	}
	var broken []string
	for _, r := range results {
		if !r.Holds {
			broken = append(broken, r.String())
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return fmt.Errorf("not as %w at message %d: %s", ErrRequirement, j.at, strings.Join(broken, "; "))
}

// judgedBook gives the chat's lorebook, nil where it has none or where it is
// not there.
func (j *cutJob) judgedBook(md *rawjson.Object) (*lorebook.Book, error) {
	name, ok := lorebook.NameIn(md)
	if !ok {
		return nil, nil
	}
	if !j.chat.HasDir {
		return nil, fmt.Errorf("the chat is in no SillyTavern user folder, so the queue in its lorebook %q cannot be read; give the folder with --data", name)
	}
	book, err := j.books.open(j.chat.Dir, name)
	if errors.Is(err, lorebook.ErrMissing) {
		return nil, nil
	}
	return book, err
}
