package isolate

import (
	"stchat/internal/rawjson"
)

// coreKeys returns the keys of chat_metadata that SillyTavern and its bundled extensions
// write and that do not refer to messages by place (FORMATS.md E3), with Luker's
// branches.
func coreKeys() []string {
	return []string{
		"integrity", "main_chat", "tainted", "note_prompt", "note_interval", "note_depth", "note_position", "note_role",
		"world_info", "persona", "scenario", "mes_example", "system_prompt", "variables", "script_injects", "attachments",
		"custom_background", "chat_backgrounds", "quickReply", "narrator_name", "chat_id_hash", "pick_reroll_seed",
		"cfg_guidance_scale", "cfg_negative_prompt", "cfg_positive_prompt", "cfg_prompt_combine", "cfg_groupchat_individual_chars",
		"cfg_prompt_insertion_depth", "cfg_prompt_separator", "cfg_negative_combine", "cfg_negative_insertion_depth",
		"cfg_negative_separator", "branches",
	}
}

func holdsSomething(raw []byte) bool {
	for range rawjson.Members(raw) {
		return true
	}
	for range rawjson.Elements(raw) {
		return true
	}
	return false
}
