package illustrator

import "testing"

func TestPromptID(t *testing.T) {
	for _, c := range []struct {
		text            string
		message, prompt int
		want            string
	}{{"a red door", 4, 0, "prompt_dyibx4"}, {"", 0, 0, "prompt_288yw"}, {"小说家", 12, 1, "prompt_2nox27"}, {"\xed\xa0\xbd!", 1, 0, "prompt_91t4d"}, {"a\ufffdb\xed\xb8\x80\xed\xb8\x80", 1, 0, "prompt_v0a6rz"}, {"😀", 1, 0, "prompt_fe3bws"}} {
		if got := PromptID(c.text, c.message, c.prompt); got != c.want {
			t.Errorf("%q in message %d: %s, want %s", c.text, c.message, got, c.want)
		}
	}
}
