package rules

import "stchat/internal/jsonl"

// The keys of a line that are read.
const (
	keyName = iota
	keyIsUser
	keyMes
	keyDate
	keySwipeID
	keySwipes
	keySwipeInfo
	keyExtra
	keyMetadata
	keyUserName
	keyCharacterName
)

func lineKeys() *jsonl.Keys {
	return jsonl.NewKeys("name", "is_user", "mes", "send_date", "swipe_id", "swipes", "swipe_info", "extra",
		"chat_metadata", "user_name", "character_name").Inside("extra")
}
