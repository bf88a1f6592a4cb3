package safefile

import "golang.org/x/sys/unix"

// realm identifies where our process id is valid: this boot of this Mac.
func realm() (parts []string, sure bool) {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	return []string{"darwin", boot}, err == nil && boot != ""
}
