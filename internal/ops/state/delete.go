package state

import (
	"context"
	"fmt"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/luker"
	"stchat/internal/ops"
	"stchat/internal/safefile"
)

// Delete takes namespaces away: a plain one's sidecar, a floor log and what an older Luker
// left beside it. What is not there is no error. They are kept for undo until that is
// dropped.
func Delete(ctx context.Context, opt Options, namespaces []string) *Result {
	opt.Changes.Precious = true
	var notes ops.Result[Changed]
	var normal []string
	for _, given := range namespaces {
		namespace, err := namespaceOf(given, notes.Note)
		if err == nil && (strings.HasSuffix(namespace, ":") || namespace == luker.SyncNamespace) {
			err = ErrNamespace
		}
		if err != nil {
			r := newResult(&opt, given)
			r.Err = fmt.Errorf("%q: %w", given, err)
			return r
		}
		normal = append(normal, namespace)
	}
	r := newResult(&opt, normal...)
	r.Notes = notes.Notes
	run(ctx, &opt, r, func(_ context.Context, t *target, s *changeset.Set) error {
		gone := map[string]bool{}
		for _, namespace := range normal {
			for _, name := range []string{luker.LogOf(namespace), namespace} {
				sidecar, ok := t.sidecar(name)
				if !ok || gone[name] {
					continue
				}
				gone[name] = true
				was, err := safefile.StampPath(sidecar.Path)
				if err != nil {
					return err
				}
				if err := s.Remove(sidecar.Path, was, "state of an extension"); err != nil {
					return err
				}
				r.Doc.Removed = append(r.Doc.Removed, Removed{name, 1})
			}
		}
		return nil
	})
	return r
}
