package safefile

import (
	"os"
	"strings"
)

// realm identifies where our process id is valid: the boot id stands for one boot of
// one machine or virtual machine, the link names the PID namespace of a container.
func realm() (parts []string, sure bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	ns, err2 := os.Readlink("/proc/self/ns/pid")
	id := strings.TrimSpace(string(boot))
	return []string{"linux", id, ns}, err == nil && err2 == nil && id != "" && ns != ""
}
