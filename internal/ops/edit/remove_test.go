package edit_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stchat/internal/ops/edit"
	"stchat/internal/sillytavern/choose"
)

// TestToolCallsBefore holds that each tool call before deleted replies is taken or counted
// once, also where some of the calls are chosen themselves.
func TestToolCallsBefore(t *testing.T) {
	const call, reply = `{"name":"A","is_user":false,"is_system":true,"mes":"c","extra":{"tool_invocations":[{}]}}`, `{"name":"A","is_user":false,"is_system":false,"mes":"r"}`
	const user = `{"name":"U","is_user":true,"is_system":false,"mes":"u"}`
	text := strings.Join([]string{`{"chat_metadata":{},"user_name":"u","character_name":"A"}`, reply, call, call, reply, reply, call, reply, call, user}, "\n")
	for _, test := range []struct {
		ranges []choose.Range
		left   string
		gone   []int
	}{
		{[]choose.Range{{From: 2, To: 3}}, "1 tool call is left without the reply, the first in message 1", []int{1, 2, 3}},
		{[]choose.Range{{From: 3, To: 4}}, "2 tool calls are left without the reply, the first in message 1", []int{1, 2, 3, 4}},
		{[]choose.Range{{From: 4, To: 4}, {From: 6, To: 6}}, "1 tool call is left without the reply, the first in message 5", []int{4, 5, 6}},
		{[]choose.Range{{From: 1, To: 3}}, "", []int{1, 2, 3}},
		{[]choose.Range{{From: 0, To: 0}}, "", []int{0}},
		{[]choose.Range{{From: 8, To: 8}}, "", []int{8}},
	} {
		for _, too := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "c.jsonl")
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			result := edit.Delete(t.Context(), edit.DeleteOptions{Options: options(path), Choice: choose.Choice{Ranges: test.ranges}, ToolCalls: too})[0]
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			if warned := strings.Join(result.Doc.Warnings, "\n"); !too && !strings.HasSuffix(warned, test.left) || (too || test.left == "") && warned != "" {
				t.Errorf("%v: warned of %q, want %q", test.ranges, warned, test.left)
			}
			if too && !slices.Equal(result.Doc.Deleted, test.gone) {
				t.Errorf("%v: deleted are %v, want %v", test.ranges, result.Doc.Deleted, test.gone)
			}
		}
	}
}
