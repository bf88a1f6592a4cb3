package names

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// humanized is a time as SillyTavern writes it into names: since 1.16, and with spaces before
// (humanizedDateTime in public/scripts/RossAscends-mods.js).
var humanized = regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?\d{1,3}ms)?`)

// Short returns a chat's name as it is shown below its owner's: of "OWNER - TIME", the time to the
// minute, and "…" in place of the name of another chat that it begins with. within is empty where
// there is no other chat. What it returns tells a person which chat it is, and no program.
func Short(owner, within, name string) string {
	if rest, ok := strings.CutPrefix(name, within); ok && rest != "" && len(within) > 3 {
		return "…" + rest
	}
	rest, ok := strings.CutPrefix(name, owner+" - ")
	if !ok && owner != "" {
		return name
	}
	m := humanized.FindStringSubmatch(rest)
	if m == nil {
		return name
	}
	n := make([]int, len(m)-1)
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1])
	}
	return fmt.Sprintf("%04d-%02d-%02d %02d:%02d", n[0], n[1], n[2], n[3], n[4]) + rest[len(m[0]):]
}
