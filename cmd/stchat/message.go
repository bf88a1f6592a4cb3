package main

const messageDoc = `Read and edit messages of chats.

See 'stchat message COMMAND --help' for each command.`

func newMessage(*app) verb {
	return verb{
		use: "message COMMAND", short: "Read and edit messages of chats",
		doc: messageDoc, no: "no message was chosen",
		example: "  stchat message get chat.jsonl --at 3..9\n  stchat message count chat.jsonl --role user",
		below: []named{
			{"add", newMessageAdd},
			{"apply", newMessageApply},
			{"count", newMessageCount},
			{"delete", newMessageDelete},
			{"get", newMessageGet},
			{"hide", newMessageHide},
			{"set", newMessageSet},
			{"swipe", newMessageSwipe},
			{"unhide", newMessageUnhide},
		},
	}
}
