package chatgen

import (
	"bytes"
	"fmt"
	"strings"
)

// SwipeValues writes a user folder with n chats in which extensions keep a value for each swipe, beside
// the swipes of a message: variables as Tavern Helper and MVU keep them, variables_initialized and
// is_ejs_processed as ST-Prompt-Template does. They are lists, or objects with the swipes' numbers as
// keys, some with gaps; some are longer or shorter than swipes, as SillyTavern's page leaves them when it
// deletes or adds a swipe. A swipe's value of variables names the swipe's text, under "text", so that a
// reader can tell whose it is. The same seed makes the same bytes.
func SwipeValues(dir string, n int, seed uint64) error {
	g := &swipeValues{newWriter(seed)}
	return writeFolder(dir, n, func(int) []byte { return g.chat() })
}

// swipeValues makes chats with values for each swipe.
type swipeValues struct {
	*writer
}

func (g *swipeValues) chat() []byte {
	var out bytes.Buffer
	hardHeader(&out, fmt.Sprintf(`"integrity":"%s"`, g.uuid(nil)))
	for m := range 2 + g.below(8) {
		if m%2 == 0 {
			fmt.Fprintf(&out, "\n%s", g.reply(m))
			continue
		}
		fmt.Fprintf(&out, "\n"+`{"name":"Tom","is_user":true,"is_system":false,"send_date":"2025-06-01T12:0%d:00.000Z","mes":"%s","extra":{}}`, m, g.sentence())
	}
	return out.Bytes()
}

// reply returns message m, one of the character.
func (g *swipeValues) reply(m int) string {
	count := 1 + g.below(5)
	var swipes, info, variables, flags []string
	for k := range count {
		text := fmt.Sprintf("%d %s", k, g.sentence())
		swipes = append(swipes, text)
		info = append(info, `{"send_date":"2025-06-01T12:00:00.000Z","extra":{}}`)
		variables = append(variables, fmt.Sprintf(`{"text":"%s","hp":%d}`, text, g.below(100)))
		flags = append(flags, fmt.Sprint(g.below(2) == 0))
	}
	chosen := g.below(count)
	switch g.below(8) {
	case 0: // of a swipe that the page has deleted
		variables = append(variables, `{"text":"gone","hp":1}`)
	case 1: // not yet of the last swipe
		variables = variables[:count-1]
	}

	keep := g.asList
	if g.below(2) == 0 {
		keep = g.asObject
	}
	return fmt.Sprintf(`{"name":"Mira","is_user":false,"is_system":false,"send_date":"2025-06-01T12:0%d:00.000Z","mes":"%s","extra":{},`, m, swipes[chosen]) +
		fmt.Sprintf(`"swipe_id":%d,"swipes":["%s"],"swipe_info":[%s],`, chosen, strings.Join(swipes, `","`), strings.Join(info, ",")) +
		fmt.Sprintf(`"variables":%s,"is_ejs_processed":%s,"variables_initialized":%s}`, keep(variables), g.asList(flags), g.asObject(flags))
}

func (g *swipeValues) asList(values []string) string { return "[" + strings.Join(values, ",") + "]" }

// asObject returns an object with the numbers of values as keys, in some of which one is missing.
func (g *swipeValues) asObject(values []string) string {
	gap := g.below(3 * (len(values) + 1))
	var members []string
	for k, value := range values {
		if k != gap {
			members = append(members, fmt.Sprintf(`"%d":%s`, k, value))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}
