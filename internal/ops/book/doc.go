// Package book clones lorebooks, and points chats at the clones.
package book
