// Package look holds the verbs that only read: they return values and write nothing.
package look
