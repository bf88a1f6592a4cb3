//go:build !linux && !windows

package safefile

import "os"

// machine returns the host name.
func machine() string {
	host, _ := os.Hostname()
	return host
}
