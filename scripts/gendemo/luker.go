package main

import "time"

// The folder of a user of Luker's: another program's, so it stands by itself.
const (
	lukerFolder = "luker"
	tideChat    = "Wren Tallow - 2026-03-12@21h03m55s420ms"
)

var wren = speaker{"Wren Tallow", "Wren Tallow.png", false}

// tideHouse makes a chat of Luker's with what lies beside it: the slug, a plain sidecar, a
// floor log whose last commits belong to a swipe each, and the state of the character
// beside the card (FORMATS A).
func tideHouse(files map[string][]byte) error {
	begin := time.Date(2026, time.March, 12, 21, 3, 55, 420e6, time.UTC)
	turns, err := readStory("tide-house")
	if err != nil {
		return err
	}
	w := &teller{clock: begin, speakers: map[string]speaker{"ines": ines, "wren": wren}}
	messages, err := w.tellAll(turns)
	if err != nil {
		return err
	}
	chat := lukerFolder + "/chats/" + wren.name + "/" + tideChat
	files[chat+".jsonl"] = chatFile(object{{"integrity", slug(tideChat)}, {"tainted", true}}, messages)
	sidecar := func(namespace string, value object) {
		files[chat+".luker-state."+namespace+".json"] = []byte(compact(value))
	}
	sidecar("chat_sync", object{{"integrity", slug(tideChat)}, {"updated_at", w.clock.UnixMilli()}})
	sidecar("quest_book", object{{"open", strs("whose feet?")}, {"done", list{}}})
	sidecar("tide_clock__floor_log", object{{"version", 1}, {"commits", list{
		commit(0, 0, object{{"op", "add"}, {"path", "/feet"}, {"value", 2}}, object{{"op", "add"}, {"path", "/rising"}, {"value", true}}),
		commit(2, 0, object{{"op", "add"}, {"path", "/read"}, {"value", strs("Ines")}}),
		commit(2, 1, object{{"op", "replace"}, {"path", "/feet"}, {"value", 4}}, object{{"op", "add"}, {"path", "/read"}, {"value", list{}}}),
		commit(4, 0, object{{"op", "replace"}, {"path", "/feet"}, {"value", 3}}, object{{"op", "replace"}, {"path", "/rising"}, {"value", false}}, object{{"op", "add"}, {"path", "/read/-"}, {"value", "Wren"}}),
	}}})
	card, err := characterCard(character{
		name: wren.name, description: "Keeps the tide house, and the clock in it that has one hand.", personality: "patient, wet to the knee",
		greetings: []string{messages[0].mes}, chat: tideChat, made: begin,
	}, 2)
	if err != nil {
		return err
	}
	files[lukerFolder+"/characters/"+wren.avatar] = card
	files[lukerFolder+"/characters/"+wren.name+".state.mood.json"] = []byte(compact(object{{"calm", true}, {"boots", "wet"}}))
	return nil
}

// commit returns one entry of a floor log.
func commit(floor, swipe int, operations ...any) object {
	return object{{"floor", floor}, {"swipeId", swipe}, {"patches", list(operations)}}
}
