package safefile

import "golang.org/x/sys/windows/registry"

// realm identifies where our process id is valid: this installation of Windows. An id
// from before a restart may have gone to another process since; then its file just
// stays.
func realm() (parts []string, sure bool) {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return []string{"windows"}, false
	}
	defer k.Close()
	guid, _, err := k.GetStringValue("MachineGuid")
	return []string{"windows", guid}, err == nil && guid != ""
}
