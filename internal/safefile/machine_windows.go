package safefile

// machine returns the ID of the Windows installation.
func machine() string {
	parts, _ := realm()
	return parts[len(parts)-1]
}
