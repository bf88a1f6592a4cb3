package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// crowd is how many runs go at one world at once.
const crowd = 4

// crowdAll lets several runs branch the same group chat at once, each with its own
// name: no branch, no name in the group and no link may get lost, and nobody has to
// complete anything.
func (h *harness) crowdAll(out io.Writer) error {
	var sc *scenario
	for _, c := range h.cases {
		if c.group && len(c.partly) == 0 {
			sc = c
		}
	}
	if sc == nil {
		return nil
	}
	const row, rounds = "branch --link of one group chat", 60
	err := h.each(rounds, func(i int, dir string) error {
		if err := h.settle(sc, dir); err != nil {
			return err
		}
		outs := make([]outcome, crowd)
		errs := make([]error, crowd)
		var wg sync.WaitGroup
		for n := range crowd {
			wg.Go(func() {
				outs[n], errs[n] = h.call(dir, nil, []string{"branch", supper, "--link", "--name", fmt.Sprint("run ", n)})
			})
		}
		wg.Wait()
		var bad []string
		var refused [crowd]bool
		all := outcome{}
		for n, o := range outs {
			if errs[n] != nil {
				return errs[n]
			}
			all.stderr += o.stderr
			h.tally.add(row, "runs")
			switch {
			case o.code == 0:
				h.tally.add(row, done)
			case o.code == 2 && strings.Contains(o.stderr, "changed while it was read"):
				h.tally.add(row, failed)
				refused[n] = true
			default:
				bad = append(bad, o.String())
			}
		}
		is, err := take(dir)
		if err != nil {
			return err
		}
		for n := range crowd {
			name := fmt.Sprintf("Supper__run %d", n)
			if _, ok := is["group chats/"+name+".jsonl"]; ok == refused[n] {
				bad = append(bad, fmt.Sprintf("%s is there: %t", name, ok))
			}
		}
		bad = append(bad, is.dangling()...)
		bad = append(bad, is.loose(true)...)
		bad = append(bad, is.temps()...)
		if len(bad) > 0 {
			h.tally.add(row, brokenness)
			h.tally.fault(row, fmt.Sprint("round ", i), bad, all)
		}
		return nil
	})
	h.tally.table(out, fmt.Sprintf("%d commands at once", crowd), []string{row}, []string{"runs", done, failed, brokenness})
	return err
}
