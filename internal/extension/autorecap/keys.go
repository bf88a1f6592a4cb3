package autorecap

import "slices"

// Keys in chat_metadata (FORMATS.md B2).
const (
	KeyRunning    = "auto_recap_running_scene_recaps"
	keyPending    = "autoLorebooks"
	keyBooks      = "auto_lorebooks"
	keyDocumented = "auto_recap" // in its documents only; no code writes it
	keyProcessed  = "auto_lorebooks_processed_recaps"
	keyCheckpoint = "auto_recap_checkpoint_state"
)

// Keys returns the keys of chat_metadata that belong to Auto-Recap.
func Keys() []string {
	return []string{KeyRunning, keyPending, keyBooks, keyDocumented, keyProcessed, keyCheckpoint}
}

// IsKey reports whether a key of chat_metadata belongs to Auto-Recap.
func IsKey(key string) bool { return slices.Contains(Keys(), key) }

// ChatIDs returns the paths in chat_metadata under which the name of the chat that the data
// belongs to can be noted (FORMATS.md B2.1).
func ChatIDs() [][]string {
	return [][]string{{KeyRunning, "chat_id"}, {keyDocumented, "combined_recap", "chat_id"}, {keyCheckpoint, "chat_id"}}
}

// Unruled returns the keys whose value at an earlier message cannot be known.
func Unruled() []string { return []string{keyProcessed, keyCheckpoint} }
