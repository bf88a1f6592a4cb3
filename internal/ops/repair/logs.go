package repair

import (
	"bytes"
	"fmt"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/rules"
	"stchat/internal/ops"
)

// cuttingLogs plans to drop the commits of messages that the chat does not have. If damaged lines
// may become messages in this run, it waits for the next.
func (p *plan) cuttingLogs(have rules.Set) {
	if !have.Has(rules.LukerFloor) {
		return
	}
	if have.HasAny(mendedToMessages()) {
		p.waits(rules.LukerFloor)
		return
	}
	p.logs = true
}

// cutLogs drafts the floor logs of the chat without the commits of messages that it does not have.
// Those that are not valid go too, as Luker drops them when it next writes the log.
func (p *plan) cutLogs(set *changeset.Set, lost *quarantine) error {
	for _, s := range p.beside {
		if s.Kind != luker.FloorLog {
			continue
		}
		if err := p.cutLog(set, lost, s); err != nil {
			return err
		}
	}

	if p.isEmpty() { // else it is replaced
		set.Rely(p.path, p.chat.Stamp)
	}
	return lost.flush()
}

func (p *plan) cutLog(set *changeset.Set, lost *quarantine, log luker.Sidecar) error {
	raw, was, err := safefile.Read(log.Path)
	if err != nil {
		return ops.PathError(err)
	}
	beyond := 0
	err = luker.EachCommit(bytes.NewReader(raw), func(c *luker.Commit) error {
		if c.Floor >= p.chat.Messages {
			beyond++
		}
		return nil
	})
	if err != nil || beyond == 0 { // one that cannot be read is left to a person
		return nil
	}

	at := step{rule: rules.LukerFloor, index: noMessage}
	var gone []string
	var taken [][]byte
	var cut bytes.Buffer
	_, err = luker.Rewrite(&cut, bytes.NewReader(raw), func(c *luker.Commit) (floor, swipe int, keep bool) {
		if c.Valid && c.Floor < p.chat.Messages {
			return c.Floor, c.Swipe, true
		}
		what := fmt.Sprintf("a commit of message %d in Luker's log %s", c.Floor, clip(luker.DataOf(log.Namespace)))
		if !c.Valid {
			what = "a commit that is not valid in Luker's log " + clip(luker.DataOf(log.Namespace))
		}
		gone = append(gone, what)
		taken = append(taken, bytes.Clone(c.Raw))
		return 0, 0, false
	})
	if err != nil {
		return fmt.Errorf("%s: %w", log.Path, err)
	}
	for i, what := range gone {
		p.done.add(at, "moved to the .damaged file: "+what, taken[i], nil)
		if err := lost.add(at, what, taken[i]); err != nil {
			return err
		}
	}

	draft, err := set.Replace(log.Path, was, "Luker's state of the chat")
	if err != nil {
		return ops.PathError(err)
	}
	_, err = draft.Write(cut.Bytes())
	return err
}
