package edit

import (
	"context"
	"fmt"
	"strings"

	"stchat/internal/choose"
	"stchat/internal/extension/autorecap"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// RecapOptions says which version of a recap becomes current.
type RecapOptions struct {
	Options
	Scene   *int // the message that ends a scene; nil: the running recap
	Version int  // its number; that of a scene recap counts from 0
}

// SetRecap makes a version of an Auto-Recap recap the current one.
func SetRecap(ctx context.Context, opt RecapOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		if opt.Scene == nil {
			return &Plan{Metadata: opt.running}, nil
		}
		places, err := o.chosen(ctx, scanning{Choice: choose.Choice{Ranges: []choose.Range{{From: *opt.Scene, To: *opt.Scene}}}})
		return &Plan{Change: places, Edits: each(opt.scene)}, err
	})
}

func (opt *RecapOptions) running(raw []byte) ([]byte, error) {
	metadata, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	had, err := autorecap.ChooseRunning(metadata, opt.Version)
	switch {
	case err != nil && len(had) == 0:
		return nil, fmt.Errorf("%w of the running recap, which has no versions", err)
	case err != nil:
		return nil, fmt.Errorf("%w of the running recap as %d: there are %s", err, opt.Version, strings.Join(had, ", "))
	}
	return metadata.Bytes(), nil
}

func (opt *RecapOptions) scene(line []byte) ([]byte, error) {
	edited, versions, err := autorecap.ChooseRecap(line, opt.Version)
	switch {
	case err != nil && versions == 0:
		return nil, fmt.Errorf("%w: it has no scene recap", err)
	case err != nil:
		return nil, fmt.Errorf("%w of its scene recap as %d: there are %s, from 0", err, opt.Version, plural.S(versions, "version"))
	}
	return edited, nil
}
