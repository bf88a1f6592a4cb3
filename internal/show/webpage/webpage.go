// Package webpage begins pages that need nothing else: no network, no server, no other file, and
// no script but their own.
package webpage

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// Start is how every page begins.
const Start = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "

// Head returns a page up to its body. Its policy allows the style, the script unless that is
// empty, and pictures that stand in the page itself if pictures is set. title must be escaped.
func Head(title, style, script string, pictures bool) string {
	policy := "script-src 'none'"
	if script != "" {
		policy = "script-src " + hash(script)
	}
	policy += "; style-src " + hash(style)
	if pictures {
		policy += "; img-src data:"
	}
	return fmt.Sprintf(Start+`%s; base-uri 'none'; form-action 'none'">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>%s</style>
</head>
<body>
`, policy, title, style)
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
