package illustrator

import (
	"strconv"

	"stchat/internal/jsvalue"
)

// PromptID returns the id that Auto-Illustrator gives a prompt: a hash of its text, its
// message's index and its own index in the message.
func PromptID(text string, message, prompt int) string {
	return "prompt_" + jsvalue.Hash36(text+"|"+strconv.Itoa(message)+"|"+strconv.Itoa(prompt))
}
