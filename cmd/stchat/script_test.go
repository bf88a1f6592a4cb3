package main

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts under testdata/script")

// TestMain makes the program a command of the scripts: the test binary, run
// again under its name.
func TestMain(m *testing.M) {
	// else each of a thousand runs waits a second at its end under -race
	os.Setenv(noSyncVariable, "1") // faster, and power is not lost here
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	// The scripts wait for processes most of the time; -parallel, which is read later, still holds.
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"stchat": mainJudged})
}

// TestScripts runs testdata/script/*.txtar: one claim a script, on the program
// as its users run it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setupScript,
		Cmds:                scriptCmds(),
		Condition:           scriptCondition,
	})
}

// setupScript gives every script the same world: UTC, nobody's home, and no
// word on colour.
func setupScript(env *testscript.Env) error {
	env.Setenv("TZ", "UTC")
	env.Setenv(noSyncVariable, "1") // faster, and power is not lost here
	env.Setenv("HOME", env.WorkDir)
	env.Setenv(judgeVariable, env.WorkDir)
	env.Setenv("GORACE", os.Getenv("GORACE"))
	env.Setenv("UUID", "99999999-8888-4777-8666-555555555555")
	env.Values[treesKey{}] = map[string]string{}
	return os.MkdirAll(env.WorkDir, 0o777)
}
