package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"stchat/internal/library"
	"stchat/internal/luker"
	"stchat/internal/metadiff"
	"stchat/internal/rawjson"
)

// ErrNoLog means that a namespace lacks the floor log that a call needs.
var ErrNoLog = errors.New("it has no floor log")

// GetOptions says which values to read.
type GetOptions struct {
	ReadOptions
	Namespaces []string
	At         *int // as of this message; below 0 counted from the end; nil: now
	Stored     bool // return the file as it is
}

// Values holds the values of namespaces: the document of state get.
type Values struct {
	Schema int             `json:"schema"`
	Path   string          `json:"path" is:"path"`
	Values json.RawMessage `json:"values"` // by namespace; null if there is none

	Only     []byte   `json:"-"` // the value, if one namespace was asked for; nil: there is none
	Notes    []string `json:"-"`
	Warnings []string `json:"-"`
}

// Get reads the values of namespaces. A floor log takes precedence over a plain sidecar.
func Get(ctx context.Context, lib *library.Library, opt GetOptions) (*Values, error) {
	t, err := openTarget(ctx, lib, opt.Data, opt.Path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	v := &Values{Schema: 1, Path: opt.Path}
	all := rawjson.NewObject()
	for _, given := range opt.Namespaces {
		namespace, err := namespaceOf(given, func(format string, args ...any) { v.Notes = append(v.Notes, fmt.Sprintf(format, args...)) })
		if err != nil {
			return nil, fmt.Errorf("%q: %w", given, err)
		}
		raw, err := v.read(ctx, t, &opt, namespace)
		if err != nil {
			return nil, err
		}
		if v.Only = raw; !opt.Stored {
			v.Only = rawjson.Compact(raw)
		}
		if raw == nil {
			raw = []byte("null")
		}
		all.Set(namespace, rawjson.Compact(raw))
	}
	v.Values = all.Bytes()
	return v, nil
}

// read returns the value of one namespace, nil if there is none.
func (v *Values) read(ctx context.Context, t *target, opt *GetOptions, namespace string) ([]byte, error) {
	switch namespace {
	case Recap, Illustrator:
		if opt.At != nil || opt.Stored || t.chat == nil {
			return nil, fmt.Errorf("%s: %w: %s is what a chat's own metadata says now", t.path, ErrNamespace, namespace)
		}
		if namespace == Recap {
			return recapOf(ctx, t.chat)
		}
		return illustratorOf(t.chat)
	}
	log, hasLog := t.log(namespace)
	if opt.At != nil && !hasLog {
		return nil, fmt.Errorf("%s: %q: %w", t.path, namespace, ErrNoLog)
	}
	data, hasData := t.sidecar(namespace)
	switch {
	case hasLog && opt.Stored:
		raw, _, err := read(log.Path)
		return raw, err
	case hasLog:
		last, err := t.message(ctx, opt.At)
		if err != nil {
			return nil, err
		}
		state, err := t.replay(ctx, log.Path, last)
		if err == nil && hasData && opt.At == nil {
			v.compare(data, state)
		}
		return state, err
	case hasData:
		raw, _, err := read(data.Path)
		return raw, err
	}
	return nil, nil
}

// compare warns if the copy that an older Luker left beside a log differs from the log's
// value.
func (v *Values) compare(data luker.Sidecar, state []byte) {
	raw, _, err := read(data.Path)
	if err == nil && metadiff.Equal(raw, state) {
		return
	}
	v.Warnings = append(v.Warnings, fmt.Sprintf("%s: this copy from an older Luker is not what the floor log says; the log counts, and Luker will put the copy away", data.Path))
}
