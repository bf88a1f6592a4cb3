package main

import (
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/autorecap"
	"stchat/internal/lorebook"
	"stchat/internal/ops/cut"
)

// state turns the flags about lorebook and extension state into options.
func (o *cutOptions) state(fs *pflag.FlagSet, opt *cut.Options) (err error) {
	opt.Lorebook, opt.Drop, opt.Isolate = o.lorebook, o.drop, o.isolate
	if o.isolate && !fs.Changed("lorebook") {
		opt.Lorebook = cut.LorebookClone
	}
	if fs.Changed("internal") { // a clone and a snapshot have defaults of their own
		if opt.Internal, err = lorebook.ParseInternal(o.internal); err != nil || o.internal == "" {
			return usagef("--internal is %s, not %q", strings.Join(lorebook.InternalNames(), ", "), o.internal)
		}
	}
	for _, glob := range o.drop {
		if err := lorebook.CheckGlob(glob); err != nil {
			return usagef("--drop: %v", err)
		}
	}
	if opt.Require, err = autorecap.ParseRequirements(o.require); err != nil {
		return usagef("--require: %v", err)
	}
	if opt.Lorebook == cut.LorebookShare && (fs.Changed("internal") || fs.Changed("drop")) {
		return usagef("--internal and --drop are about a cloned lorebook; they go with --lorebook clone, snapshot or --isolate")
	}
	return nil
}
