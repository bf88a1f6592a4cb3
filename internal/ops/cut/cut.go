// Package cut makes checkpoints and branches: new chats that hold a chat up to one of its
// messages.
//
// A call takes three steps. First every source gets the name of its new chat, in the order in
// which the sources were given (plan). Then all are drafted in parallel, each on its own
// (draft): the chat and what belongs to it, which is its sidecars, the clone of its lorebook,
// its name in the group's list and its link in the source. Last, the changeset package commits
// what was drafted for one source as one change set, whole or not at all.
package cut

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/safefile"
)

// How often a chat is made again because other runs got ahead: they took its name, or linked a
// chat in its source.
const (
	nameTries = 1000 // the same as for names that were taken before
	linkTries = 20
)

// Run makes a checkpoint or branch of every source, each with messages 0 to At inclusive, and
// returns one result per source in their order. An error is in the result of its source and
// does not stop the others.
func Run(ctx context.Context, opt Options) []*Result {
	left := opt.Values.LeaveOut(keyMainChat, keyIntegrity)
	results := make([]*Result, len(opt.Sources))
	plans := make([]*plan, len(opt.Sources))
	for i := range plans {
		plans[i] = &plan{number: i, made: made{at: -1}}
	}
	todo := plans
	for try := 0; len(todo) > 0; try++ {
		round(ctx, &opt, todo, plans, results)
		todo = again(ctx, &opt, plans, results, try)
	}
	if at := slices.IndexFunc(results, func(r *Result) bool { return r.Err == nil }); len(left) > 0 && at >= 0 {
		results[at].Note("%s", ops.LeftOut(left))
	}
	finish(&opt, plans, results)
	return results
}

// round makes the new chats of some sources.
func round(ctx context.Context, opt *Options, some, plans []*plan, results []*Result) {
	for k, p := range some {
		p = &plan{number: p.number, source: opt.Sources[p.number], last: last{index: -1}, before: p.made.at, made: made{at: -1}}
		some[k], plans[p.number] = p, p
		results[p.number] = newResult(opt, p.source)
	}
	c := newCall(opt)
	defer c.close()
	planAll(ctx, c, some, results)
	begun := slices.DeleteFunc(slices.Clone(some), func(p *plan) bool { r := results[p.number]; return r.Err != nil || r.Doc.Existed })
	ops.Each(ctx, opt.Changes, begun, func(p *plan) (*Result, changeset.Unit) { return results[p.number], c.unit(p, results[p.number]) })
	for _, p := range begun {
		r := results[p.number]
		r.Err = about(p.source, r.Err)
		if r.Err == nil && p.made.stream != nil && !opt.Changes.DryRun {
			if r.Err = p.made.stream(ctx); r.Err != nil && p.clone != nil {
				r.Err = fmt.Errorf("%w; the lorebook %s was made for it, and stays", r.Err, p.clone.path)
			}
		}
	}
}

// again returns the plans of the chats that must be made again.
func again(ctx context.Context, opt *Options, plans []*plan, results []*Result, try int) (left []*plan) {
	if opt.Changes.DryRun || ctx.Err() != nil || try == nameTries {
		return nil
	}
	named := map[string]*plan{}
	for _, p := range plans {
		if named[p.path] = p; p.clone != nil {
			named[p.clone.path] = p
		}
	}
	for i, p := range plans {
		taken, lost := errors.AsType[*safefile.ExistsError](results[i].Err)
		switch {
		case p.source == chat.Stdin:
		case lost && named[taken.Path] == p:
			// a taken name is an error only if it was given, not if it was generated
			generated := opt.Output == "" && (p.name.Generated || opt.Style == names.Classic)
			if generated || p.clone != nil && taken.Path == p.clone.path {
				left = append(left, p)
			}
		case lost && named[taken.Path] != nil: // the two were to be committed together
			left = append(left, p)
		case opt.Link && !p.made.moved && errors.Is(results[i].Err, jsonl.ErrChanged) && try < linkTries: // by a run that linked another chat
			left = append(left, p)
		}
	}
	return left
}

// finish completes the documents once everything is done.
func finish(opt *Options, plans []*plan, results []*Result) {
	if opt.Link && opt.Kind == names.Checkpoint {
		tellReplaced(plans, results)
	}
	tellBookless(plans, results)
	for _, r := range results {
		if r.Err != nil {
			r.Warnings, r.Notes = nil, nil // they are about a chat that was not made
		}
		r.Doc.Warnings = append(r.Doc.Warnings, r.Warnings...)
	}
}
