// Package report writes what check found in the formats that other programs
// read: JSON lines, SARIF 2.1.0, GitHub workflow commands and JUnit XML. It
// also reads findings back as a baseline, so that only new ones count.
//
// Everything in a finding that came out of a chat is a stranger's text: no
// format lets a control or bidirectional character through as it is. Columns
// are bytes, which neither SARIF nor GitHub can express, so only JSON lines
// and JUnit have them.
package report
