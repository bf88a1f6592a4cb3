package rules

// The families, as docs/rules.md has them.
const (
	fileFamily       = "file"
	messageFamily    = "messages"
	identityFamily   = "identity"
	linkFamily       = "links"
	groupFamily      = "groups"
	lorebookFamily   = "lorebooks"
	extensionFamily  = "extensions"
	attachmentFamily = "attachments"
)

// table has every rule; it is never changed. The facts are FORMATS.md's and
// those of the sources that it names.
var table = [ruleCount]Rule{
	UnfinishedChange: {
		ID: "unfinished-change", Family: fileFamily, Severity: Error,
		Summary: "a command was interrupted between two files, and the change is neither completed nor taken back",
		Effect:  "some files are as the command would have left them, others as they were",
		Mend:    "run any command that writes there: it ends the change; where somebody has changed its files since, undo takes back what it can",
	},
	EmptyFile: {
		ID: "empty-file", Family: fileFamily, Severity: Error,
		Summary: "the file has nothing in it",
		Effect:  "SillyTavern lists a chat that has no messages, and starts it anew over this file when it is opened",
		Mend:    "restore the chat from SillyTavern's backups folder, or delete the file",
	},
	HeaderOnly: {
		ID: "header-only", Family: fileFamily, Severity: Info,
		Summary: "a header and no message",
		Effect:  "SillyTavern starts over with the greeting when the chat is opened",
		Mend:    "delete the file if the chat is not wanted",
	},
	BOM: {
		ID: "bom", Family: fileFamily, Severity: Error, Mending: Mended,
		Summary: "the file begins with a byte order mark",
		Effect:  "SillyTavern cannot parse the first line: the header is lost and the first message is eaten in its place",
		Mend:    "repair takes the mark off",
	},
	CRLF: {
		ID: "crlf", Family: fileFamily, Severity: Info, Mending: Mended,
		Summary: "lines end in CR LF",
		Effect:  "SillyTavern reads it; its next save writes LF, so that every line differs in version control",
		Mend:    "repair makes the line ends LF",
	},
	NUL: {
		ID: "nul", Family: fileFamily, Severity: Error, Mending: Mended,
		Summary: "NUL bytes, as a crash of the system leaves them",
		Effect:  "SillyTavern drops the line, and writes the chat without it at its next save",
		Mend:    "repair takes the NUL bytes out; a line that is not whole without them goes to the quarantine file",
	},
	InvalidUTF8: {
		ID: "invalid-utf8", Family: fileFamily, Severity: Warning,
		Summary: "text that is not UTF-8",
		Effect:  "SillyTavern shows U+FFFD for those bytes, and writes it in their place at its next save",
		Mend:    "convert the text by hand if you know its encoding",
	},
	InvalidJSON: {
		ID: "invalid-json", Family: fileFamily, Severity: Error, Mending: Mended,
		Summary: "a line that is not JSON",
		Effect:  "SillyTavern drops the line without a word, and writes the chat without it at its next save; exporting the chat as TXT ends its whole server",
		Mend:    "mend the line by hand, or repair moves it to the quarantine file",
	},
	TornTail: {
		ID: "torn-tail", Family: fileFamily, Severity: Error, Mending: Mended,
		Summary: "the last line is damaged",
		Effect:  "SillyTavern drops the line, and exporting the chat as TXT ends its whole server; its list of chats reads the last line only, and older versions leave the whole chat out of the list",
		Mend:    "mend the line by hand, or repair moves it to the quarantine file",
	},
	NotAnObject: {
		ID: "not-an-object", Family: fileFamily, Severity: Error, Mending: Mended,
		Summary: "JSON, but not an object, where a message or the metadata must be",
		Effect:  "SillyTavern drops null, 0, false and empty text, and keeps anything else as a message without name and text",
		Mend:    "repair moves the line to the quarantine file; in a header, {} takes the place of the metadata",
	},
	TooDeep: {
		ID: "too-deep", Family: fileFamily, Severity: Error, Mending: Mended,
		Summary: "nested deeper than 10,000 levels",
		Effect:  "programs that read it may crash; stchat does not read it either",
		Mend:    "repair moves the line to the quarantine file",
	},
	DuplicateKey: {
		ID: "duplicate-key", Family: fileFamily, Severity: Info,
		Summary: "an object has a key more than once",
		Effect:  "SillyTavern takes the last value, and its next save drops the others",
		Mend:    "remove the value that is not wanted by hand",
	},
	NoHeader: {
		ID: "no-header", Family: fileFamily, Severity: Error, Mending: Mended,
		Summary: "the first line is no header",
		Effect:  "SillyTavern takes the first line for the header, whatever it is: that message is gone and all others are numbered one lower",
		Mend:    "repair puts a header in front; where the header stands further down, that one",
	},
	MisplacedHeader: {
		ID: "misplaced-header", Family: fileFamily, Severity: Error, Mending: Mended,
		Summary: "a header that is not the first line",
		Effect:  "SillyTavern takes it for a message without name and text, and its metadata is lost",
		Mend:    "repair moves it to the front where there is no other header; a second one must be removed, or the file split there, by hand",
	},

	MessageShape: {
		ID: "message-shape", Family: messageFamily, Severity: Error,
		Summary: "name or mes is missing or no text, or is_user is missing",
		Effect:  "SillyTavern shows the message as undefined, or stops while loading the chat; one without is_user it shows as the character's",
		Mend:    "put the value right by hand",
	},
	SwipeID: {
		ID: "swipe-id", Family: messageFamily, Severity: Error, Mending: Mended,
		Summary: "swipe_id is no number of a swipe",
		Effect:  "SillyTavern shows an undefined swipe as soon as the message is swiped, and branches from it fail",
		Mend:    "repair chooses the swipe that has the message's text, and appends the text as a swipe where none has it",
	},
	SwipeText: {
		ID: "swipe-text", Family: messageFamily, Severity: Warning, Mending: Mended,
		Summary: "the chosen swipe is not the message's text",
		Effect:  "SillyTavern shows the message's text and writes it over the swipe at the next swipe: the swipe's own text is lost",
		Mend:    "repair does the same now, and keeps the swipe's text in the quarantine file",
	},
	SwipeInfo: {
		ID: "swipe-info", Family: messageFamily, Severity: Warning, Mending: Mended,
		Summary: "swipe_info has another length than swipes",
		Effect:  "SillyTavern shows swipes with the date, model and reasoning of others, or with none",
		Mend:    "repair fills it up as SillyTavern does, with the message's dates; one that is too long is left to you",
	},
	BadDate: {
		ID: "bad-date", Family: messageFamily, Severity: Info,
		Summary: "send_date cannot be read as a date",
		Effect:  "SillyTavern shows no date, or an invalid one, and sorts the chat wrongly in its lists",
		Mend:    "put the date right by hand",
	},
	DateOrder: {
		ID: "date-order", Family: messageFamily, Severity: Info,
		Summary: "a message is dated before the one in front of it",
		Effect:  "none in SillyTavern, which does not sort messages; lines may have been put together from several files",
		Mend:    "look whether the messages are in the right order",
	},

	IntegrityMissing: {
		ID: "integrity-missing", Family: identityFamily, Severity: Info,
		Summary: "the header has no integrity slug",
		Effect:  "SillyTavern cannot tell whether a save overwrites another chat's; it adds a slug when the chat is next opened",
		Mend:    "open the chat in SillyTavern, or leave it",
	},
	IntegrityShared: {
		ID: "integrity-shared", Family: identityFamily, Severity: Warning, Mending: Mended,
		Summary: "another chat of the folder has the same integrity slug",
		Effect:  "SillyTavern's overwrite guard cannot tell the chats apart (before 1.19 it copied the slug into every branch)",
		Mend:    "repair gives all but the eldest a fresh slug",
	},

	DanglingMainChat: {
		ID: "dangling-main-chat", Family: linkFamily, Severity: Warning, Mending: OnOrder,
		Summary: "main_chat names a chat that is not there",
		Effect:  "SillyTavern's \"back to parent\" does nothing; programs that show the tree of branches begin another one here",
		Mend:    "put the name right; repair names a chat that was renamed as it is called now, and removes a link only when asked for this rule",
	},
	DanglingCheckpoint: {
		ID: "dangling-checkpoint", Family: linkFamily, Severity: Warning, Mending: OnOrder,
		Summary: "bookmark_link names a chat that is not there",
		Effect:  "a click on the message's flag in SillyTavern makes a new chat under that name, with the greeting as its only message, and opens it",
		Mend:    "put the name right; repair names a chat that was renamed as it is called now, and removes a link only when asked for this rule",
	},
	DanglingBranch: {
		ID: "dangling-branch", Family: linkFamily, Severity: Warning, Mending: OnOrder,
		Summary: "branches names a chat that is not there",
		Effect:  "programs that show the tree of branches show one that cannot be opened",
		Mend:    "put the name right; repair names a chat that was renamed as it is called now, and removes a link only when asked for this rule",
	},
	UnlistedBranch: {
		ID: "unlisted-branch", Family: linkFamily, Severity: Info, Mending: OnOrder,
		Summary: "the parent has no link to this chat",
		Effect:  "the branch is found only by its own main_chat (SillyTavern often does not save the parent after branching)",
		Mend:    "repair notes it in the parent, on the last message that both share, when asked for this rule",
	},
	MissingMainChat: {
		ID: "missing-main-chat", Family: linkFamily, Severity: Info,
		Summary: "another chat links to this one as its checkpoint or branch, and this one names no parent",
		Effect:  "SillyTavern offers no way back to the parent",
		Mend:    "set main_chat in the header if the link is right, or remove the link",
	},
	ChatCycle: {
		ID: "chat-cycle", Family: linkFamily, Severity: Error,
		Summary: "the chat is its own parent, or an ancestor of its own",
		Effect:  "programs that follow main_chat up to the root never end, and no chat of the circle has a root",
		Mend:    "remove main_chat from the chat that is the eldest, by hand",
	},
	DivergedCheckpoint: {
		ID: "diverged-checkpoint", Family: linkFamily, Severity: Warning,
		Summary: "the checkpoint parts from its parent well before the message on which it hangs",
		Effect:  "going back to the checkpoint brings back another story than the one it was made of",
		Mend:    "compare the two; make the checkpoint anew, or remove the link, if the parent is right",
	},
	UnsafeName: {
		ID: "unsafe-name", Family: linkFamily, Severity: Warning, Mending: Mended,
		Summary: "a name that cannot be a file's name as it stands",
		Effect:  "SillyTavern's server removes characters from the name, so that links by the name and the file's own name differ",
		Mend:    "repair writes the links as the server makes them; a file must be renamed by hand",
	},

	WrongExtension: {
		ID: "wrong-extension", Family: linkFamily, Severity: Warning,
		Summary: "a chat whose file's name does not end in just .jsonl",
		Effect:  "no list, search or welcome screen of SillyTavern shows the chat",
		Mend:    "rename the file so that it ends in .jsonl, in small letters and behind a name",
	},
	NameTooLong: {
		ID: "name-too-long", Family: linkFamily, Severity: Warning,
		Summary: "a file's name is longer than SillyTavern can save",
		Effect:  "SillyTavern opens it and cannot save it: it writes through a file whose name is up to 11 bytes longer, and 255 bytes are the most",
		Mend:    "rename it to at most 244 bytes with its extension, and the links to it",
	},
	FolderWithoutCard: {
		ID: "folder-without-card", Family: linkFamily, Severity: Warning,
		Summary: "a folder of chats that belongs to no character",
		Effect:  "SillyTavern shows its chats nowhere: it looks for them by the names of the cards",
		Mend:    "give the folder the name of the character's card without .png, or import the card again",
	},

	GroupUnlisted: {
		ID: "group-unlisted", Family: groupFamily, Severity: Error, Mending: Mended,
		Summary: "no group lists this group chat",
		Effect:  "SillyTavern never shows the chat, and its Data Maid offers to delete it as loose",
		Mend:    "add the name to the chats of its group; repair does where the group is known: the parent's, or that of a chat with a link to it",
	},
	GroupMissingChat: {
		ID: "group-missing-chat", Family: groupFamily, Severity: Warning,
		Summary: "a group lists a chat that is not there",
		Effect:  "SillyTavern leaves it out of the list, or opens an empty chat under that name",
		Mend:    "restore the chat, or remove its name from the group's chats",
	},
	GroupTwice: {
		ID: "group-twice", Family: groupFamily, Severity: Warning,
		Summary: "more than one group lists the chat",
		Effect:  "each group continues the same file with its own members, and deleting one group's chat deletes the other's",
		Mend:    "remove the name from the chats of the group that it does not belong to",
	},
	GroupOldLayout: {
		ID: "group-old-layout", Family: groupFamily, Severity: Warning, Mending: Mended,
		Summary: "a group file holds the chat's metadata, as up to SillyTavern 1.14",
		Effect:  "SillyTavern 1.16 and later ignores what the group file holds beside a header; without one it moves it into the chat when the server starts, and has no metadata until then",
		Mend:    "repair does what SillyTavern's migration does: the metadata goes into a header where there is none, and leaves the group file",
	},

	LorebookMissing: {
		ID: "lorebook-missing", Family: lorebookFamily, Severity: Warning,
		Summary: "world_info names a lorebook that is not there",
		Effect:  "SillyTavern goes on without the lorebook and says nothing",
		Mend:    "restore the lorebook, or choose another in SillyTavern",
	},
	LorebookUnreadable: {
		ID: "lorebook-unreadable", Family: lorebookFamily, Severity: Error,
		Summary: "a lorebook, or the queue in it, cannot be read",
		Effect:  "SillyTavern goes on without the lorebook; what extensions keep in it is lost to them",
		Mend:    "mend the file by hand, or restore it from a backup",
	},
	LorebookMismatch: {
		ID: "lorebook-mismatch", Family: lorebookFamily, Severity: Warning,
		Summary: "auto_lorebooks.lorebookName is not world_info",
		Effect:  "the extension believes it writes one lorebook while SillyTavern reads another",
		Mend:    "choose the right lorebook for the chat in SillyTavern, and let the extension attach it",
	},
	LorebookSharedState: {
		ID: "lorebook-shared-state", Family: lorebookFamily, Severity: Warning,
		Summary: "several chats write one lorebook that holds extension state",
		Effect:  "every chat's extension writes its queue and registries into the same entries: each reads what the others did",
		Mend:    "give the chat a lorebook of its own",
	},
	LorebookQueue: {
		ID: "lorebook-queue", Family: lorebookFamily, Severity: Warning,
		Summary: "the lorebook's queue has operations that wait",
		Effect:  "Auto-Recap runs them when a chat with this lorebook is opened, against that chat's messages",
		Mend:    "open the chat they belong to and let them end, or clear the queue in the extension",
	},
	RegistryUID: {
		ID: "registry-uid", Family: lorebookFamily, Severity: Warning,
		Summary: "a registry names the uid of an entry that is not in the book",
		Effect:  "Auto-Recap looks for the entry, does not find it, and makes another",
		Mend:    "let Auto-Recap build its registries anew, or remove the line by hand",
	},
	RegistryIndex: {
		ID: "registry-index", Family: lorebookFamily, Severity: Warning,
		Summary: "the chat's index of the registries names the uid of an entry that is not in the book",
		Effect:  "Auto-Recap stops its queue with an error when it is to merge into that entry",
		Mend:    "restore the entry, or let Auto-Recap build its registries anew",
	},

	RecapChatID: {
		ID: "recap-chat-id", Family: extensionFamily, Severity: Error, Mending: Mended,
		Summary: "the running recap belongs to another chat, and the chat has no parent",
		Effect:  "Auto-Recap replaces the running recap by an empty one when the chat is opened",
		Mend:    "repair sets chat_id to this chat",
	},
	RecapVersion: {
		ID: "recap-version", Family: extensionFamily, Severity: Error, Mending: OnOrder,
		Summary: "current_version is none of the running recap's versions",
		Effect:  "Auto-Recap goes on as if there were no running recap",
		Mend:    "choose a version in Auto-Recap's settings; repair makes the newest current when asked for this rule",
	},
	RecapScene: {
		ID: "recap-scene", Family: extensionFamily, Severity: Warning, Mending: OnOrder,
		Summary: "a version of the running recap is made at a message without a scene recap",
		Effect:  "Auto-Recap deletes the version the next time a message is deleted",
		Mend:    "restore the scene's recap; repair removes the version when asked for this rule, and makes the newest that is left current",
	},
	RecapShape: {
		ID: "recap-shape", Family: extensionFamily, Severity: Error,
		Summary: "the running recap, or the list of processed recaps, is not what Auto-Recap reads",
		Effect:  "Auto-Recap stops with an error, or finds another version than the one that is meant",
		Mend:    "put the value right by hand",
	},
	BeyondEnd: {
		ID: "beyond-end", Family: extensionFamily, Severity: Warning, Mending: OnOrder,
		Summary: "extension state for a message beyond the last one",
		Effect:  "a recap tells what has not happened, or a prompt is attached to whatever message comes to that place",
		Mend:    "delete the version or prompt in the extension; repair removes such state when asked for this rule",
	},
	CombinedRecap: {
		ID: "combined-recap", Family: extensionFamily, Severity: Warning,
		Summary: "the combined recap is another chat's, or counts more messages than there are",
		Effect:  "the recap tells what this chat does not hold",
		Mend:    "let Auto-Recap combine the recaps anew",
	},
	PendingOld: {
		ID: "pending-old", Family: extensionFamily, Severity: Warning, Mending: OnOrder,
		Summary: "lorebook operations have been pending for more than 24 hours, or for nobody knows how long",
		Effect:  "the extension takes them up again, or blocks, though what they were made for is long past; those without a timestamp it never drops",
		Mend:    "clear the pending operations in the extension; repair removes them when asked for this rule",
	},
	PromptShape: {
		ID: "prompt-shape", Family: extensionFamily, Severity: Error, Mending: OnOrder,
		Summary: "Auto-Illustrator's registry lacks a part, or a prompt stands under another key than its id",
		Effect:  "Auto-Illustrator reads the parts unasked and stops with an error, or finds another prompt than the one that is meant",
		Mend:    "repair makes what is missing by what the prompts say, and gives a prompt the id it stands under, when asked for this rule",
	},
	PromptDangling: {
		ID: "prompt-dangling", Family: extensionFamily, Severity: Warning, Mending: OnOrder,
		Summary: "prompts of Auto-Illustrator, or its lists, name prompts that are not there, or go round in a circle",
		Effect:  "a prompt's history or image is not found, or the prompt is in no list",
		Mend:    "repair removes what names no prompt, makes a prompt without a parent a root, and opens circles, when asked for this rule",
	},
	PromptDrift: {
		ID: "prompt-drift", Family: extensionFamily, Severity: Warning, Mending: OnOrder,
		Summary: "a prompt of Auto-Illustrator is of another message than it says",
		Effect:  "messages were deleted in SillyTavern; the extension looks for the prompt in a message that has another text, and makes a second one",
		Mend:    "repair gives the prompt the message in which its marker lies, and the id that follows from it, when asked for this rule; without a marker it is left to you",
	},
	PromptMarker: {
		ID: "prompt-marker", Family: extensionFamily, Severity: Info,
		Summary: "a marker of Auto-Illustrator in a message names no prompt",
		Effect:  "the image can be neither made again nor refined; that is so in copies of a message, and in chats that lost the extension's state",
		Mend:    "leave it, or remove the marker by hand",
	},
	MemoryBook: {
		ID: "memory-book", Family: extensionFamily, Severity: Warning, Mending: OnOrder,
		Summary: "a mark of STMemoryBooks is beyond the last message",
		Effect:  "the scene that is marked cannot be summarised, or messages that come are taken for summarised already",
		Mend:    "mark the scene anew in the extension; repair clears such a mark, and sets the highest memory to the last message, when asked for this rule",
	},
	LukerFloor: {
		ID: "luker-floor", Family: extensionFamily, Severity: Warning,
		Summary: "a floor log of Luker has floors beyond the last message, or cannot be read",
		Effect:  "Luker skips these floors until a message comes to that place, and then replays what belongs to another",
		Mend:    "delete the floors from the log, or restore the messages",
	},
	LukerReplay: {
		ID: "luker-replay", Family: extensionFamily, Severity: Error,
		Summary: "the replay of a floor log of Luker breaks",
		Effect:  "Luker keeps a copy of the log and cuts it at that floor when it next reads it: what later messages changed is gone",
		Mend:    "put the operation right by hand, or choose the swipe again that was chosen when it was made",
	},
	LukerState: {
		ID: "luker-state", Family: extensionFamily, Severity: Warning,
		Summary: "a sidecar of Luker's is not what Luker writes, or belongs to nothing",
		Effect:  "Luker takes a sidecar that is no object for none; of data beside its own log it keeps the log's; commits behind one of a later floor go too when messages are deleted",
		Mend:    "put the file right by hand, or delete it if nothing needs it",
	},
	LukerSlug: {
		ID: "luker-slug", Family: extensionFamily, Severity: Warning,
		Summary: "the header's slug is not that of Luker's chat_sync sidecar",
		Effect:  "Luker trusts the sidecar, some of its endpoints the header: a save is refused as a conflict",
		Mend:    "open the chat in Luker and save it",
	},

	OrphanSidecar: {
		ID: "orphan-sidecar", Family: extensionFamily, Severity: Info,
		Summary: "a sidecar of Luker's that belongs to no chat of the folder",
		Effect:  "none, until a chat of that name is made: then Luker takes it for that chat's state",
		Mend:    "restore or rename the chat that it belongs to, or delete the sidecar",
	},

	MissingAttachment: {
		ID: "missing-attachment", Family: attachmentFamily, Severity: Warning,
		Summary: "an image or file of a message is not in the user folder",
		Effect:  "SillyTavern shows a broken image, or a file that cannot be opened",
		Mend:    "restore the file, or remove the attachment in SillyTavern",
	},
	LegacyMedia: {
		ID: "legacy-media", Family: attachmentFamily, Severity: Info, Mending: OnOrder,
		Summary: "a message keeps its image, video or file as SillyTavern did up to 1.13",
		Effect:  "none in SillyTavern, which makes lists of them when the chat is opened; other programs may look at the lists only",
		Mend:    "repair does what SillyTavern does when asked for this rule",
	},
}
