// Prose reads texts as stchat shows them: a JSON string a line from standard input, and for
// each a line with its runs, [{"text":…,"styles":"bi"}]. The styles are b(old), i(talic), u(nderlined),
// s(truck), q(uote), c(ode) and h(eading).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"stchat/internal/show/prose"
)

type run struct {
	Text   string `json:"text"`
	Styles string `json:"styles"`
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := bufio.NewWriter(os.Stdout)
	w := json.NewEncoder(out)
	for in.More() {
		var text string
		if err := in.Decode(&text); err != nil {
			fmt.Fprintln(os.Stderr, "prose:", err)
			os.Exit(2)
		}
		list := []run{}
		for _, b := range prose.Read(text) {
			for _, r := range b.Runs {
				if r.Mark || r.Style&prose.Picture != 0 {
					continue
				}
				var styles []rune
				for i, c := range "biusqc" {
					if r.Style&(1<<i) != 0 {
						styles = append(styles, c)
					}
				}
				if b.Kind == prose.Heading {
					styles = append(styles, 'h')
				}
				list = append(list, run{r.Text, string(styles)})
			}
		}
		_ = w.Encode(list) // what fails here fails again in Flush
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(2)
	}
}
