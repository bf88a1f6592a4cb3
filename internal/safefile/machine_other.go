//go:build !linux && !windows

package safefile

import "os"

// machine is the host's name.
func machine() string {
	host, _ := os.Hostname()
	return host
}
