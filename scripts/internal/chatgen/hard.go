package chatgen

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// HardCases returns the names of what [Hard] makes.
func HardCases() []string { return slices.Sorted(maps.Keys(hardCases())) }

// Hard writes a user folder that is hard to read in one way, n times over: time or
// memory that grows faster than n shows when n, 4 n and 16 n are compared. The chat to
// name is dir/chats/Mira/story.jsonl, or a folder.
func Hard(dir, name string, n int) error {
	make, ok := hardCases()[name]
	if !ok {
		return fmt.Errorf("there is no case %q; there are %s", name, strings.Join(HardCases(), ", "))
	}
	h := &hard{dir: dir, n: n}
	make(h)
	return h.err
}

func hardCases() map[string]func(*hard) {
	return map[string]func(*hard){
		"damage": (*hard).damage, "keys": (*hard).keys, "short": (*hard).short, "slugs": (*hard).slugs,
		"links": (*hard).links, "groups": (*hard).groups, "solos": (*hard).solos, "images": (*hard).images, "varops": (*hard).varOps,
	}
}

// hard is a folder that is being written; the first error stays.
type hard struct {
	dir string
	n   int
	err error
}

// file writes one file.
func (h *hard) file(path string, write func(w *bufio.Writer)) {
	path = filepath.Join(h.dir, path)
	if h.err == nil {
		h.err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if h.err != nil {
		return
	}
	f, err := os.Create(path)
	if err != nil {
		h.err = err
		return
	}
	w := bufio.NewWriterSize(f, 1<<20)
	write(w)
	h.err = w.Flush()
	if err := f.Close(); h.err == nil {
		h.err = err
	}
}

const story = "chats/Mira/story.jsonl"

func hardHeader(w io.Writer, metadata string) {
	fmt.Fprintf(w, `{"chat_metadata":{%s},"user_name":"unused","character_name":"unused"}`, metadata)
}

func hardMessage(w *bufio.Writer, i int, extra string) {
	fmt.Fprintf(w, "\n"+`{"name":"Mira","is_user":false,"send_date":"2026-01-02T03:04:05.000Z","mes":"m%d","extra":{%s}}`, i, extra)
}

// damage writes a chat of n damaged lines and one message.
func (h *hard) damage() {
	h.file(story, func(w *bufio.Writer) {
		hardHeader(w, "")
		for range h.n {
			w.WriteString("\nx")
		}
		hardMessage(w, 0, "")
	})
}

// keys writes a chat with one message of n keys.
func (h *hard) keys() {
	h.file(story, func(w *bufio.Writer) {
		hardHeader(w, "")
		hardMessage(w, 0, "")
		w.WriteString("\n" + `{"name":"Mira","is_user":false,"mes":"m"`)
		for i := range h.n {
			fmt.Fprintf(w, `,"%d":0`, i)
		}
		w.WriteString(`}`)
	})
}

// short writes a chat of n short messages.
func (h *hard) short() {
	h.file(story, func(w *bufio.Writer) {
		hardHeader(w, "")
		for range h.n {
			w.WriteString("\n" + `{"mes":"x"}`)
		}
	})
}

// slugs writes a chat with n branches that have its slug.
func (h *hard) slugs() {
	const slug = `"integrity":"11111111-2222-4333-8444-555555555555"`
	h.file(story, func(w *bufio.Writer) {
		hardHeader(w, slug)
		hardMessage(w, 0, "")
	})
	for i := range h.n {
		h.file(fmt.Sprintf("chats/Mira/branch %d.jsonl", i), func(w *bufio.Writer) {
			hardHeader(w, `"main_chat":"story",`+slug)
			hardMessage(w, 0, "")
			hardMessage(w, i+1, "")
		})
	}
}

// links writes a chat with n checkpoints, each noted on a message of its own.
func (h *hard) links() {
	h.file(story, func(w *bufio.Writer) {
		hardHeader(w, "")
		for i := range h.n {
			hardMessage(w, i, fmt.Sprintf(`"bookmark_link":"point %d"`, i))
		}
	})
	for i := range h.n {
		h.file(fmt.Sprintf("chats/Mira/point %d.jsonl", i), func(w *bufio.Writer) {
			hardHeader(w, `"main_chat":"story"`)
			hardMessage(w, 0, "")
		})
	}
}

// groups writes a group with n chats, each with two links that lead nowhere.
func (h *hard) groups() {
	h.file("groups/1.json", func(w *bufio.Writer) {
		w.WriteString("{\n    \"id\": \"1\",\n    \"name\": \"Pair\",\n    \"members\": [],\n    \"chat_id\": \"chat 0\",\n    \"chats\": [")
		for i := range h.n {
			if i > 0 {
				w.WriteByte(',')
			}
			fmt.Fprintf(w, "\n        \"chat %d\"", i)
		}
		w.WriteString("\n    ]\n}")
	})
	for i := range h.n {
		h.file(fmt.Sprintf("group chats/chat %d.jsonl", i), h.nowhere)
	}
}

// solos writes a character with n chats, like those of groups.
func (h *hard) solos() {
	for i := range h.n {
		h.file(fmt.Sprintf("chats/Mira/chat %d.jsonl", i), h.nowhere)
	}
}

func (h *hard) nowhere(w *bufio.Writer) {
	hardHeader(w, "")
	hardMessage(w, 0, `"bookmark_link":"gone"`)
	hardMessage(w, 1, `"branches":["gone too"]`)
}

// images writes a chat with n of Auto-Illustrator's nodes: chains of
// ten, half of them of a later message.
func (h *hard) images() {
	h.file(story, func(w *bufio.Writer) {
		w.WriteString(`{"chat_metadata":{"auto_illustrator":{"promptRegistry":{"nodes":{`)
		for i := range h.n {
			parent, child := "null", ""
			if i%10 > 0 {
				parent = fmt.Sprintf(`"prompt_%d"`, i-1)
			}
			if i%10 < 9 && i+1 < h.n {
				child = fmt.Sprintf(`"prompt_%d"`, i+1)
			}
			if i > 0 {
				w.WriteByte(',')
			}
			fmt.Fprintf(w, `"prompt_%d":{"id":"prompt_%d","messageId":%d,"promptIndex":0,"text":"a red door","parentId":%s,"childIds":[%s],"generatedImages":["/user/images/N/%d.png"]}`, i, i, i%2, parent, child, i)
		}
		w.WriteString(`},"imageToPromptId":{`)
		for i := range h.n {
			if i > 0 {
				w.WriteByte(',')
			}
			fmt.Fprintf(w, `"/user/images/N/%d.png":"prompt_%d"`, i, i)
		}
		w.WriteString(`},"rootPromptIds":[`)
		for i := 0; i < h.n; i += 10 {
			if i > 0 {
				w.WriteByte(',')
			}
			fmt.Fprintf(w, `"prompt_%d"`, i)
		}
		w.WriteString(`]}}},"user_name":"unused","character_name":"unused"}`)
		hardMessage(w, 0, "")
		hardMessage(w, 1, "")
	})
}

// varOps writes a chat whose n messages each set a far element of a variable of their
// own, which becomes a list of that length.
func (h *hard) varOps() {
	h.file(story, func(w *bufio.Writer) {
		hardHeader(w, "")
		for i := range h.n {
			hardMessage(w, i, fmt.Sprintf(`"var_ops":[{"op":"setvar","key":"k%d","path":"9000","value":"1"}]`, i))
		}
	})
}
