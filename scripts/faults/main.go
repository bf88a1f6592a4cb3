// Command faults makes everything go wrong that can while stchat writes, and looks
// at what is left.
//
// It builds the real program, gives it a user folder made for the purpose, and
//
//   - kills it at random moments (SIGKILL), in every command that writes,
//     and the call that ends what is left as well;
//   - lets others write to the files of a change between such a kill and its end (Linux,
//     with strace);
//   - lets each system call of a run fail, one run a call and error, or delivers a
//     signal at it (Linux, with strace);
//   - fills the disk to every degree, makes folders and files read-only (Linux, root);
//   - changes, cuts, deletes and replaces sources, targets and group files while the
//     program stands in the middle of its work (Linux, with strace);
//   - starts several runs at once on the same chat and group;
//   - puts links, FIFOs and folders in the place of the files in .stchat;
//   - follows the system calls of undisturbed runs: nothing gets a name before it is
//     on the disk (Linux, with strace).
//
// After each of these every file must be whole, old or new to the byte as an
// undisturbed run made it; nothing may point at a file that does not exist; only the
// program's own temporary names may be left over, only after a kill, and a later run
// must remove them; exit code and message must be right; and where a message names the
// command that completes what was begun, that command is run and must complete it.
//
// It prints a table of each part, and exits with 1 when one of the promises was broken.
//
//	go run ./scripts/faults [-kills N] [-parts LIST] [-only REGEXP] [-bin PATH] [-seed N]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

// harness is what the parts share.
type harness struct {
	bin     string // the program
	dir     string // for worlds
	kills   int    // over all scenarios
	seed    uint64
	workers int
	cases   []*scenario
	special []*scenario // for one system call each
	tally   *tally
}

// part is one kind of disturbance.
type part struct {
	name string
	run  func(h *harness, out io.Writer) error
}

var errBroken = fmt.Errorf("a promise was broken")

func parts() []part {
	return []part{
		{"kills", (*harness).killAll},
		{"calls", (*harness).failCalls},
		{"space", (*harness).fillDisk},
		{"locked", (*harness).lockFiles},
		{"strangers", (*harness).strangersAll},
		{"meddle", (*harness).meddleAll},
		{"crowd", (*harness).crowdAll},
		{"strange", (*harness).strangeAll},
		{"order", (*harness).orderAll},
	}
}

func run(args []string, out, log io.Writer) error {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	fs := flag.NewFlagSet("faults", flag.ContinueOnError)
	fs.SetOutput(log)
	bin := fs.String("bin", "", "test this program instead of building one")
	dir := fs.String("dir", "", "make the user folders below this folder")
	kills := fs.Int("kills", 3000, "how many runs to kill, over all scenarios")
	seed := fs.Uint64("seed", uint64(time.Now().UnixNano()), "of the random moments")
	only := fs.String("only", "", "only scenarios whose name matches this expression")
	which := fs.String("parts", strings.Join(names, ","), "what to do")
	workers := fs.Int("workers", runtime.NumCPU(), "runs at a time")
	if err := fs.Parse(args); err != nil {
		return err
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(*dir, "stchat-faults-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	h := &harness{bin: *bin, dir: work, kills: *kills, seed: *seed, workers: *workers}
	h.tally = &tally{log: log}
	if h.bin == "" {
		if h.bin, err = build(work); err != nil {
			return err
		}
	} else if h.bin, err = filepath.Abs(h.bin); err != nil {
		return err
	}
	if err := h.prepare(scenarios(), pattern.MatchString); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s/%s, %s, %s; seed %d\n", runtime.GOOS, runtime.GOARCH, runtime.Version(), fileSystem(work), *seed)
	for _, p := range parts() {
		if !slices.Contains(strings.Split(*which, ","), p.name) {
			continue
		}
		began := time.Now()
		if err := p.run(h, out); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintf(log, "%s: %.0f s\n", p.name, time.Since(began).Seconds())
	}
	if h.tally.broken > 0 {
		return fmt.Errorf("%d times %w", h.tally.broken, errBroken)
	}
	return nil
}

// build makes the program as it is released: without C.
func build(dir string) (string, error) {
	bin := filepath.Join(dir, "stchat")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	info, ok := debug.ReadBuildInfo() // the module has another path where it is published
	if !ok {
		return "", fmt.Errorf("built without modules")
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", bin, info.Main.Path+"/cmd/stchat")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return bin, nil
}

// fileSystem returns the file system of the worlds, as far as df knows it.
func fileSystem(dir string) string {
	text, err := exec.Command("df", "-PT", dir).Output()
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if fields := strings.Fields(lines[len(lines)-1]); err == nil && len(fields) > 1 {
		return fields[1]
	}
	return "an unknown file system"
}
