package main

import (
	"fmt"
	"strings"
)

// chat makes a chat of n messages with two swipes each.
func chat(metadata string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"chat_metadata":{"integrity":"0b8a3c52-6f0e-4a3b-9a55-2f6b1d0c7e11","note_prompt":"rain"%s},"user_name":"unused","character_name":"unused"}`, metadata)
	for i := range n {
		text := strings.Repeat(fmt.Sprintf("Wave %d runs up the stones and back. ", i), 12)
		fmt.Fprintf(&b, "\n"+`{"name":"Mira","is_user":%t,"is_system":false,"send_date":"2026-01-02T03:%02d:%02d.000Z","mes":"%s","extra":{"api":"none"},"swipe_id":0,"swipes":["%s","Wave %d stays out."],"swipe_info":[{"send_date":"2026-01-02T03:04:05.000Z","extra":{}},{"send_date":"2026-01-02T03:04:06.000Z","extra":{"model":"tide"}}]}`,
			i%2 == 0, i/60%60, i%60, text, text, i)
	}
	return b.String()
}

func book() string {
	var b strings.Builder
	b.WriteString(`{"entries":{`)
	for i := range 80 {
		if i > 0 {
			b.WriteByte(',')
		}
		comment := fmt.Sprintf("Pier %d", i)
		if i == 7 {
			comment = "__index_people"
		}
		fmt.Fprintf(&b, `"%d":{"uid":%d,"key":["pier %d"],"keysecondary":[],"comment":"%s","content":"%s","constant":false,"disable":false,"order":100}`,
			i, i, i, comment, strings.Repeat("Salt and tar. ", 20))
	}
	b.WriteString(`},"name":"Harbour Lore"}`)
	return b.String()
}

func groupFile(chats ...string) string {
	return fmt.Sprintf("{\n    \"id\": \"1773083112004\",\n    \"name\": \"Supper\",\n    \"members\": [\n        \"Mira.png\"\n    ],\n    \"chat_id\": \"%s\",\n    \"chats\": [\n        \"%s\"\n    ],\n    \"fav\": false\n}",
		chats[0], strings.Join(chats, "\",\n        \""))
}

func floorLog(messages int) string {
	var b strings.Builder
	b.WriteString(`{"version":1,"commits":[`)
	for i := range messages {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"floor":%d,"swipeId":0,"patches":[{"op":"replace","path":"/tide","value":%d}]}`, i, i)
	}
	b.WriteString(`]}`)
	return b.String()
}
