package autorecap

// Keys in chat_metadata.
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

// UnknownAtEarlier returns the keys whose value at an earlier message cannot be known.
func UnknownAtEarlier() []string { return []string{keyProcessed, keyCheckpoint} }
