// Package userdir knows where SillyTavern keeps things in a user's folder, the one
// under data/ that is named after the user's handle ("default-user"):
//
//	chats/<character>/<chat>.jsonl   solo chats
//	group chats/<chat>.jsonl         the chats of all groups
//	groups/<id>.json                 groups
//	worlds/<lorebook>.json           lorebooks
//
// (SillyTavern src/constants.js, USER_DIRECTORY_TEMPLATE.) It finds
// that folder from a chat's own path, determines what kind of chat a path leads to,
// and turns a name that some file mentions into a path. Such a name may be a
// stranger's: [Within] refuses any that could lead out of its folder.
//
// It looks at names and folders only and never opens a file.
package userdir
