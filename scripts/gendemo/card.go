package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"time"
)

// A character is what a card says of one.
type character struct {
	name, description, personality, scenario string
	greetings                                []string // the first message, then the others
	chat, book                               string   // the one that is open; the one that belongs to the character
	tags                                     []string
	made                                     time.Time
}

// characterCard makes a card as SillyTavern writes it (src/endpoints/characters.js,
// src/character-card-parser.js): the picture, and before its end the character's JSON
// in base64 in the tEXt chunks chara and ccv3.
func characterCard(c character, tilt int) ([]byte, error) {
	png, err := picture(tilt)
	if err != nil {
		return nil, err
	}
	end := len(png) - 12 // the length, "IEND" and the CRC of the last chunk
	var out bytes.Buffer
	out.Write(png[:end])
	for _, kind := range []struct{ keyword, spec, version string }{{"chara", "chara_card_v2", "2.0"}, {"ccv3", "chara_card_v3", "3.0"}} {
		json := compact(c.json(kind.spec, kind.version))
		out.Write(chunk("tEXt", kind.keyword+"\x00"+base64.StdEncoding.EncodeToString([]byte(json))))
	}
	out.Write(png[end:])
	return out.Bytes(), nil
}

// chunk makes a chunk of a PNG.
func chunk(kind, data string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(b, kind+data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// json returns the character as charaFormatData in SillyTavern's characters.js orders it.
func (c character) json(spec, version string) object {
	first, more := c.greetings[0], c.greetings[1:]
	return object{
		{"name", c.name},
		{"description", c.description},
		{"personality", c.personality},
		{"scenario", c.scenario},
		{"first_mes", first},
		{"mes_example", ""},
		{"creatorcomment", ""},
		{"avatar", "none"},
		{"chat", c.chat},
		{"talkativeness", "0.5"},
		{"fav", false},
		{"tags", strs(c.tags...)},
		{"spec", spec},
		{"spec_version", version},
		{"data", object{
			{"name", c.name},
			{"description", c.description},
			{"personality", c.personality},
			{"scenario", c.scenario},
			{"first_mes", first},
			{"mes_example", ""},
			{"creator_notes", ""},
			{"system_prompt", ""},
			{"post_history_instructions", ""},
			{"tags", strs(c.tags...)},
			{"creator", "stchat"},
			{"character_version", "1"},
			{"alternate_greetings", strs(more...)},
			{"extensions", object{
				{"talkativeness", "0.5"},
				{"fav", false},
				{"world", c.book},
				{"depth_prompt", object{{"prompt", ""}, {"depth", 4}, {"role", "system"}}},
			}},
		}},
		{"create_date", stamp(c.made)},
	}
}
