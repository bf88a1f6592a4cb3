// Package folder is the room of what is asked of many chats at once: what a user folder holds (library),
// who descends from whom and who names whom (family), what is in a chat and around it (inspect),
// what is wrong with it (rules), and which messages of two chats belong together (align).
//
// Everything here only reads. A folder is looked through once; what was found is a value that
// answers all further questions, and each error stays with the file that it is about.
//
// It knows no verbs: what an answer leads to is decided by package ops and the folders below it.
package folder
