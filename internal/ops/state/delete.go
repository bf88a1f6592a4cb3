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

// Delete removes namespaces: a plain one's sidecar, or a floor log and the copy that an older
// Luker left beside it. A missing one is not an error. What is removed is kept for undo until
// the undo record is dropped.
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
