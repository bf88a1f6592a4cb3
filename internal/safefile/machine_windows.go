package safefile

// machine names the installation of Windows.
func machine() string {
	parts, _ := realm()
	return parts[len(parts)-1]
}
