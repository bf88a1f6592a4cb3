package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/require"
)

// state turns the flags about lorebook and extension state into options.
func (o *cutOptions) state(fs *pflag.FlagSet) (ops.StateOptions, error) {
	s := ops.StateOptions{Lorebook: o.lorebook, Drop: o.drop, Isolate: o.isolate}
	ways := []string{ops.LorebookShare, ops.LorebookClone, ops.LorebookSnapshot}
	if !slices.Contains(ways, o.lorebook) {
		return s, usagef("--lorebook is %s, not %q", strings.Join(ways, ", "), o.lorebook)
	}
	if o.isolate && o.lorebook == ops.LorebookShare {
		if fs.Changed("lorebook") {
			return s, usagef("--isolate clones the lorebook; it does not go with --lorebook share")
		}
		s.Lorebook = ops.LorebookClone
	}
	var err error
	if fs.Changed("internal") { // a clone and a snapshot have defaults of their own
		if s.Internal, err = lorebook.ParseInternal(o.internal); err != nil || o.internal == "" {
			return s, usagef("--internal is %s, not %q", strings.Join(lorebook.InternalNames(), ", "), o.internal)
		}
	}
	for _, glob := range o.drop {
		if err := lorebook.CheckGlob(glob); err != nil {
			return s, usagef("--drop: %v", err)
		}
	}
	if s.Require, err = require.Parse(o.require); err != nil {
		return s, usagef("--require: %v", err)
	}
	if s.Lorebook == ops.LorebookShare && (fs.Changed("internal") || fs.Changed("drop")) {
		return s, usagef("--internal and --drop are about a cloned lorebook; they go with --lorebook clone, snapshot or --isolate")
	}
	return s, nil
}
