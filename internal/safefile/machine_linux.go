package safefile

import (
	"os"
	"strings"
)

// machine returns the installation's ID, or without one, as in a container, the host name.
func machine() string {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if id, err := os.ReadFile(path); err == nil && len(strings.TrimSpace(string(id))) == 32 {
			return strings.TrimSpace(string(id))
		}
	}
	host, _ := os.Hostname()
	return host
}
