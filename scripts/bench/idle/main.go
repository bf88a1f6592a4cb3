// Idle is a Cobra program with as many commands as stchat has, none of which
// does anything: it shows what starting such a process costs.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "idle", Run: func(*cobra.Command, []string) {}}
	for i := range 12 {
		root.AddCommand(&cobra.Command{Use: fmt.Sprintf("command%d", i), Run: func(*cobra.Command, []string) {}})
	}
	if err := root.Execute(); err != nil {
		os.Exit(1)
	}
}
