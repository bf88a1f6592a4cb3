package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/ops"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// checkConfig is the name of a file with arguments of check.
const checkConfig = ".stchatrc"

// configFlags are the flags that it may have: it may be a stranger's, so none that writes, reads
// another list or takes more of the machine.
func configFlags() []string {
	return []string{"select", "ignore", "severity", "report", "baseline", "skip-other", "format"}
}

// configured applies the settings of --config, else those of the working folder or of the top
// of the git work tree around it, to flags that were not given, and returns args, or where
// there are none the paths of the settings. Flags that are lists get both.
func (o *checkOptions) configured(c *console, fs *pflag.FlagSet, args []string) ([]string, error) {
	path, err := o.configPath()
	if path == "" || err != nil {
		return args, err
	}
	data, _, err := safefile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", ops.PathError(err))
	}
	c.note("settings from %s", path)
	var paths []string
	var name string // of the flag whose value is on the next line
	line := 0
	set := func(name, value string) error {
		switch f := fs.Lookup(name); {
		case f.Changed && name != "select" && name != "ignore", name == "format" && c.json:
			return nil
		case name == "baseline":
			if value, err = below(path, value); err != nil {
				return err
			}
		}
		err := fs.Lookup(name).Value.Set(value) // not fs.Set, which notes that it was given
		if err != nil {
			err = fmt.Errorf("--%s %w", name, err)
		}
		return err
	}
	for text := range bytes.Lines(data) {
		line++
		arg := strings.TrimSpace(string(text))
		var err error
		flag, value, valued := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		switch {
		case name != "":
			err, name = set(name, arg), ""
		case arg == "" || strings.HasPrefix(arg, "#"):
		case !strings.HasPrefix(arg, "-"):
			if arg, err = below(path, arg); err == nil {
				paths = append(paths, arg)
			}
		case !strings.HasPrefix(arg, "--") || !slices.Contains(configFlags(), flag):
			err = fmt.Errorf("%s is not for this file; it may have --%s, and paths", arg, strings.Join(configFlags(), ", --"))
		case valued:
			err = set(flag, value)
		case fs.Lookup(flag).NoOptDefVal != "":
			err = set(flag, fs.Lookup(flag).NoOptDefVal)
		default:
			name = flag
		}
		if err != nil {
			return nil, usagef("%s:%d: %v", path, line, err)
		}
	}
	if name != "" {
		return nil, usagef("%s:%d: --%s needs a value", path, line, name)
	}
	if len(args) == 0 && o.filesFrom == "" {
		args = paths
	}
	return args, nil
}

// configPath returns the file with the settings, "" for none.
func (o *checkOptions) configPath() (string, error) {
	switch o.config {
	case "":
	case "none":
		return "", nil
	default:
		return o.config, nil
	}
	for _, dir := range []string{".", workTree()} {
		path := filepath.Join(dir, checkConfig)
		if _, err := os.Stat(path); err == nil && dir != "" {
			return userdir.Near(path), nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", ops.PathError(err)
		}
	}
	return "", nil
}

// workTree returns the top of the git work tree around the working folder, "" if there is none.
func workTree() string {
	dir, err := filepath.Abs(".")
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}

// below returns the path that settings name, from the folder of their file. It must not lead
// out of that.
func below(config, path string) (string, error) {
	full := filepath.Join(filepath.Dir(config), filepath.FromSlash(path))
	rel, err := filepath.Rel(userdir.RealPath(filepath.Dir(config)), userdir.RealPath(full))
	if err != nil || !filepath.IsLocal(filepath.FromSlash(path)) || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s leads out of the folder of this file", path)
	}
	return full, nil
}

// inWorkTree returns a path from the top of the git work tree; outside of one as it is.
func inWorkTree(path string) string {
	top := workTree()
	if rel, err := filepath.Rel(userdir.RealPath(top), userdir.RealPath(path)); top != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
