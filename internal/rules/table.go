package rules

// The families, as docs/rules.md names them.
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

// table has every rule; it is never changed. The facts come from FORMATS.md and
// the sources that it names.
var table = [ruleCount]Rule{
	UnfinishedChange: {
		ID: "unfinished-change", Family: fileFamily, Severity: Error,
		Summary: "a command was interrupted between two files, and its change is neither completed nor taken back",
		Effect:  "some files are as the command would have left them, others as they were",
		Repair:  "run any command that writes there: it completes the change or takes it back; if somebody has changed its files since, undo takes back what it can",
	},
	EmptyFile: {
		ID: "empty-file", Family: fileFamily, Severity: Error,
		Summary: "the file is empty",
		Effect:  "SillyTavern lists a chat without messages, and starts a new one over this file when it is opened",
		Repair:  "restore the chat from SillyTavern's backups folder, or delete the file",
	},
	HeaderOnly: {
		ID: "header-only", Family: fileFamily, Severity: Info,
		Summary: "a header and no messages",
		Effect:  "SillyTavern starts over with the greeting when the chat is opened",
		Repair:  "delete the file if you do not want the chat",
	},
	BOM: {
		ID: "bom", Family: fileFamily, Severity: Error, Repairing: Repaired,
		Summary: "the file begins with a byte order mark",
		Effect:  "SillyTavern cannot parse the first line: the header is lost, and the first message is taken for it",
		Repair:  "repair removes the mark",
	},
	CRLF: {
		ID: "crlf", Family: fileFamily, Severity: Info, Repairing: Repaired,
		Summary: "lines end in CR LF",
		Effect:  "SillyTavern reads it, but its next save writes LF, so that every line differs in version control",
		Repair:  "repair changes the line ends to LF",
	},
	NUL: {
		ID: "nul", Family: fileFamily, Severity: Error, Repairing: Repaired,
		Summary: "NUL bytes, as a system crash leaves them",
		Effect:  "SillyTavern drops the line, and its next save writes the chat without it",
		Repair:  "repair removes the NUL bytes; a line that is not whole without them goes to the quarantine file",
	},
	InvalidUTF8: {
		ID: "invalid-utf8", Family: fileFamily, Severity: Warning,
		Summary: "text that is not UTF-8",
		Effect:  "SillyTavern shows U+FFFD for those bytes, and its next save writes it in their place",
		Repair:  "convert the text by hand if you know its encoding",
	},
	InvalidJSON: {
		ID: "invalid-json", Family: fileFamily, Severity: Error, Repairing: Repaired,
		Summary: "a line that is not JSON",
		Effect:  "SillyTavern silently drops the line, and its next save writes the chat without it; exporting the chat as TXT crashes the whole server",
		Repair:  "fix the line by hand, or let repair move it to the quarantine file",
	},
	TornTail: {
		ID: "torn-tail", Family: fileFamily, Severity: Error, Repairing: Repaired,
		Summary: "the last line is damaged",
		Effect:  "SillyTavern drops the line, and exporting the chat as TXT crashes the whole server; the list of chats reads only the last line, and older versions leave the whole chat out of it",
		Repair:  "fix the line by hand, or let repair move it to the quarantine file",
	},
	NotAnObject: {
		ID: "not-an-object", Family: fileFamily, Severity: Error, Repairing: Repaired,
		Summary: "JSON, but not an object, where a message or the metadata must be",
		Effect:  "SillyTavern drops null, 0, false and empty text, and keeps anything else as a message without name and text",
		Repair:  "repair moves the line to the quarantine file; in a header, it replaces the metadata with {}",
	},
	TooDeep: {
		ID: "too-deep", Family: fileFamily, Severity: Error, Repairing: Repaired,
		Summary: "nested deeper than 10,000 levels",
		Effect:  "programs that read it may crash; stchat refuses it too",
		Repair:  "repair moves the line to the quarantine file",
	},
	DuplicateKey: {
		ID: "duplicate-key", Family: fileFamily, Severity: Info,
		Summary: "an object has a key more than once",
		Effect:  "SillyTavern takes the last value, and its next save drops the others",
		Repair:  "remove the values you do not want by hand",
	},
	NoHeader: {
		ID: "no-header", Family: fileFamily, Severity: Error, Repairing: Repaired,
		Summary: "the first line is not a header",
		Effect:  "SillyTavern takes the first line for the header, whatever it is: that message is gone, and all others are numbered one lower",
		Repair:  "repair puts a header in front: the one from further down, if there is one",
	},
	MisplacedHeader: {
		ID: "misplaced-header", Family: fileFamily, Severity: Error, Repairing: Repaired,
		Summary: "a header that is not the first line",
		Effect:  "SillyTavern takes it for a message without name and text, and its metadata is lost",
		Repair:  "repair moves it to the front if there is no other header; remove a second header by hand, or split the file there",
	},

	MessageShape: {
		ID: "message-shape", Family: messageFamily, Severity: Error,
		Summary: "name or mes is missing or not a text, or is_user is missing",
		Effect:  "SillyTavern shows the message as undefined, or stops loading the chat; a message without is_user is shown as the character's",
		Repair:  "correct the value by hand",
	},
	SwipeID: {
		ID: "swipe-id", Family: messageFamily, Severity: Error, Repairing: Repaired,
		Summary: "swipe_id is not the number of a swipe",
		Effect:  "SillyTavern shows an undefined swipe as soon as the message is swiped, and branches from it fail",
		Repair:  "repair chooses the swipe that has the message's text; if none has it, it appends the text as a swipe",
	},
	SwipeText: {
		ID: "swipe-text", Family: messageFamily, Severity: Warning, Repairing: Repaired,
		Summary: "the chosen swipe is not the message's text",
		Effect:  "SillyTavern shows the message's text, and overwrites the swipe with it when you next swipe: the swipe's own text is lost",
		Repair:  "repair does the same now, and keeps the swipe's text in the quarantine file",
	},
	SwipeInfo: {
		ID: "swipe-info", Family: messageFamily, Severity: Warning, Repairing: Repaired,
		Summary: "swipe_info and swipes differ in length",
		Effect:  "SillyTavern shows swipes with the date, model and reasoning of other swipes, or with none",
		Repair:  "repair fills it up with the message's dates, as SillyTavern does; one that is too long is left to you",
	},
	BadDate: {
		ID: "bad-date", Family: messageFamily, Severity: Info,
		Summary: "send_date cannot be read as a date",
		Effect:  "SillyTavern shows no date, or an invalid one, and sorts the chat wrongly in its lists",
		Repair:  "correct the date by hand",
	},
	DateOrder: {
		ID: "date-order", Family: messageFamily, Severity: Info,
		Summary: "a message has an earlier date than the one before it",
		Effect:  "none in SillyTavern, which does not sort messages; the lines may come from several files",
		Repair:  "check whether the messages are in the right order",
	},

	IntegrityMissing: {
		ID: "integrity-missing", Family: identityFamily, Severity: Info,
		Summary: "the header has no integrity slug",
		Effect:  "SillyTavern cannot tell whether a save overwrites another chat; it adds a slug when the chat is next opened",
		Repair:  "open the chat in SillyTavern, or leave it",
	},
	IntegrityShared: {
		ID: "integrity-shared", Family: identityFamily, Severity: Warning, Repairing: Repaired,
		Summary: "another chat in the folder has the same integrity slug",
		Effect:  "SillyTavern's overwrite guard cannot tell the chats apart (before 1.19 it copied the slug into every branch)",
		Repair:  "repair gives all but the oldest a new slug",
	},

	DanglingMainChat: {
		ID: "dangling-main-chat", Family: linkFamily, Severity: Warning, Repairing: OnOrder,
		Summary: "main_chat names a chat that does not exist",
		Effect:  "SillyTavern's \"back to parent\" does nothing; programs that show the tree of branches start another tree here",
		Repair:  "correct the name; if the chat was renamed, repair puts in its new name; it removes a link only when asked for this rule",
	},
	DanglingCheckpoint: {
		ID: "dangling-checkpoint", Family: linkFamily, Severity: Warning, Repairing: OnOrder,
		Summary: "bookmark_link names a chat that does not exist",
		Effect:  "a click on the message's flag in SillyTavern makes a new chat of that name, with the greeting as its only message, and opens it",
		Repair:  "correct the name; if the chat was renamed, repair puts in its new name; it removes a link only when asked for this rule",
	},
	DanglingBranch: {
		ID: "dangling-branch", Family: linkFamily, Severity: Warning, Repairing: OnOrder,
		Summary: "branches names a chat that does not exist",
		Effect:  "programs that show the tree of branches show a branch that cannot be opened",
		Repair:  "correct the name; if the chat was renamed, repair puts in its new name; it removes a link only when asked for this rule",
	},
	UnlistedBranch: {
		ID: "unlisted-branch", Family: linkFamily, Severity: Info, Repairing: OnOrder,
		Summary: "the parent has no link to this chat",
		Effect:  "only the branch's own main_chat leads to its parent (SillyTavern often does not save the parent after branching)",
		Repair:  "repair notes the branch in the parent, on the last message that both share, when asked for this rule",
	},
	MissingMainChat: {
		ID: "missing-main-chat", Family: linkFamily, Severity: Info,
		Summary: "another chat links to this one as its checkpoint or branch, but this one names no parent",
		Effect:  "SillyTavern offers no way back to the parent",
		Repair:  "set main_chat in the header if the link is right, or remove the link",
	},
	ChatCycle: {
		ID: "chat-cycle", Family: linkFamily, Severity: Error,
		Summary: "the chat is its own parent or ancestor",
		Effect:  "programs that follow main_chat up to the root never end, and no chat in the circle has a root",
		Repair:  "remove main_chat from the oldest chat by hand",
	},
	DivergedCheckpoint: {
		ID: "diverged-checkpoint", Family: linkFamily, Severity: Warning,
		Summary: "the checkpoint parts from its parent well before the message on which its parent notes it",
		Effect:  "going back to the checkpoint brings back another story than the one it was made from",
		Repair:  "compare the two; if the parent is right, make the checkpoint again or remove the link",
	},
	UnsafeName: {
		ID: "unsafe-name", Family: linkFamily, Severity: Warning, Repairing: Repaired,
		Summary: "a name that cannot be a file name as it stands",
		Effect:  "SillyTavern's server removes characters from the name, so that the link and the file name differ",
		Repair:  "repair writes the links as the server makes them; rename a file by hand",
	},

	WrongExtension: {
		ID: "wrong-extension", Family: linkFamily, Severity: Warning,
		Summary: "a chat whose file name does not end in just .jsonl",
		Effect:  "no list, search or welcome screen of SillyTavern shows the chat",
		Repair:  "rename the file so that it has a name and ends in .jsonl, in lower case",
	},
	NameTooLong: {
		ID: "name-too-long", Family: linkFamily, Severity: Warning,
		Summary: "a file name is longer than SillyTavern can save",
		Effect:  "SillyTavern can open it but not save it: it saves through a file whose name is up to 11 bytes longer, and 255 bytes are the limit",
		Repair:  "rename it to at most 244 bytes, extension included, and update the links to it",
	},
	FolderWithoutCard: {
		ID: "folder-without-card", Family: linkFamily, Severity: Warning,
		Summary: "a folder of chats that belongs to no character",
		Effect:  "SillyTavern never shows its chats: it looks for them by the names of the cards",
		Repair:  "rename the folder to the character's card without .png, or import the card again",
	},

	GroupUnlisted: {
		ID: "group-unlisted", Family: groupFamily, Severity: Error, Repairing: Repaired,
		Summary: "no group lists this group chat",
		Effect:  "SillyTavern never shows the chat, and its Data Maid offers to delete it as unused",
		Repair:  "add the name to the chats of its group; repair does so if the group is known: the parent's, or that of a chat with a link to it",
	},
	GroupMissingChat: {
		ID: "group-missing-chat", Family: groupFamily, Severity: Warning,
		Summary: "a group lists a chat that does not exist",
		Effect:  "SillyTavern leaves it out of the list, or opens an empty chat under that name",
		Repair:  "restore the chat, or remove its name from the group's chats",
	},
	GroupTwice: {
		ID: "group-twice", Family: groupFamily, Severity: Warning,
		Summary: "more than one group lists the chat",
		Effect:  "each group continues the same file with its own members, and deleting one group's chat deletes the other's",
		Repair:  "remove the name from the chats of the group that it does not belong to",
	},
	GroupOldLayout: {
		ID: "group-old-layout", Family: groupFamily, Severity: Warning, Repairing: Repaired,
		Summary: "a group file holds the chat's metadata, as it did up to SillyTavern 1.14",
		Effect:  "if the chat has a header, SillyTavern 1.16 and later ignores the metadata in the group file; if it has none, the server moves the metadata into the chat when it starts, and does not see it until then",
		Repair:  "repair does what SillyTavern's migration does: it moves the metadata into a header if there is none, and removes it from the group file",
	},

	LorebookMissing: {
		ID: "lorebook-missing", Family: lorebookFamily, Severity: Warning,
		Summary: "the metadata names a lorebook that does not exist",
		Effect:  "SillyTavern silently continues without the lorebook",
		Repair:  "restore the lorebook, or choose another in SillyTavern",
	},
	LorebookUnreadable: {
		ID: "lorebook-unreadable", Family: lorebookFamily, Severity: Error,
		Summary: "a lorebook, or the queue in it, cannot be read",
		Effect:  "SillyTavern continues without the lorebook; extensions lose what they keep in it",
		Repair:  "fix the file by hand, or restore it from a backup",
	},
	LorebookMismatch: {
		ID: "lorebook-mismatch", Family: lorebookFamily, Severity: Warning,
		Summary: "auto_lorebooks.lorebookName differs from world_info",
		Effect:  "the extension writes to one lorebook while SillyTavern reads another",
		Repair:  "choose the right lorebook for the chat in SillyTavern, and let the extension attach it",
	},
	LorebookSharedState: {
		ID: "lorebook-shared-state", Family: lorebookFamily, Severity: Warning,
		Summary: "several chats write to one lorebook that holds extension state",
		Effect:  "all chats' queues and registries go into the same entries, so each chat sees what the others did",
		Repair:  "give the chat a lorebook of its own",
	},
	LorebookQueue: {
		ID: "lorebook-queue", Family: lorebookFamily, Severity: Warning,
		Summary: "the lorebook's queue has pending operations",
		Effect:  "Auto-Recap runs them when a chat with this lorebook is opened, against that chat's messages",
		Repair:  "open the chat they belong to and let them finish, or clear the queue in the extension",
	},
	RegistryUID: {
		ID: "registry-uid", Family: lorebookFamily, Severity: Warning,
		Summary: "a registry names the uid of an entry that is not in the book",
		Effect:  "Auto-Recap looks for the entry, does not find it, and makes another",
		Repair:  "let Auto-Recap rebuild its registries, or remove the line by hand",
	},
	RegistryIndex: {
		ID: "registry-index", Family: lorebookFamily, Severity: Warning,
		Summary: "the chat's index of the registries names the uid of an entry that is not in the book",
		Effect:  "Auto-Recap stops its queue with an error when it has to merge into that entry",
		Repair:  "restore the entry, or let Auto-Recap rebuild its registries",
	},

	RecapChatID: {
		ID: "recap-chat-id", Family: extensionFamily, Severity: Error, Repairing: Repaired,
		Summary: "the running recap belongs to another chat, and the chat has no parent",
		Effect:  "Auto-Recap replaces the running recap with an empty one when the chat is opened",
		Repair:  "repair sets chat_id to this chat",
	},
	RecapVersion: {
		ID: "recap-version", Family: extensionFamily, Severity: Error, Repairing: OnOrder,
		Summary: "current_version is not one of the running recap's versions",
		Effect:  "Auto-Recap behaves as if there were no running recap",
		Repair:  "choose a version in Auto-Recap's settings; repair makes the newest version current when asked for this rule",
	},
	RecapScene: {
		ID: "recap-scene", Family: extensionFamily, Severity: Warning, Repairing: OnOrder,
		Summary: "a version of the running recap belongs to a message without a scene recap",
		Effect:  "Auto-Recap deletes the version the next time a message is deleted",
		Repair:  "restore the scene's recap; when asked for this rule, repair removes the version and makes the newest remaining one current",
	},
	RecapShape: {
		ID: "recap-shape", Family: extensionFamily, Severity: Error,
		Summary: "the running recap, or the list of processed recaps, does not have the shape that Auto-Recap reads",
		Effect:  "Auto-Recap stops with an error, or finds the wrong version",
		Repair:  "correct the value by hand",
	},
	BeyondEnd: {
		ID: "beyond-end", Family: extensionFamily, Severity: Warning, Repairing: OnOrder,
		Summary: "extension state for a message beyond the last one",
		Effect:  "a recap describes what has not happened, or a prompt is attached to whatever message is added there",
		Repair:  "delete the version or prompt in the extension; repair removes such state when asked for this rule",
	},
	CombinedRecap: {
		ID: "combined-recap", Family: extensionFamily, Severity: Warning,
		Summary: "the combined recap belongs to another chat, or counts more messages than there are",
		Effect:  "the recap describes what is not in this chat",
		Repair:  "let Auto-Recap combine the recaps again",
	},
	PendingOld: {
		ID: "pending-old", Family: extensionFamily, Severity: Warning, Repairing: OnOrder,
		Summary: "lorebook operations have been pending for more than 24 hours, or for an unknown time",
		Effect:  "the extension resumes them, or blocks, though their reason is long past; it never drops those without a timestamp",
		Repair:  "clear the pending operations in the extension; repair removes them when asked for this rule",
	},
	PromptShape: {
		ID: "prompt-shape", Family: extensionFamily, Severity: Error, Repairing: OnOrder,
		Summary: "Auto-Illustrator's registry lacks a part, or a prompt's key is not its id",
		Effect:  "Auto-Illustrator reads the parts without checking and stops with an error, or finds the wrong prompt",
		Repair:  "when asked for this rule, repair rebuilds missing parts from the prompts, and sets a prompt's id to its key",
	},
	PromptDangling: {
		ID: "prompt-dangling", Family: extensionFamily, Severity: Warning, Repairing: OnOrder,
		Summary: "prompts of Auto-Illustrator, or its lists, name prompts that do not exist, or form a circle",
		Effect:  "a prompt's history or image is not found, or no list has the prompt",
		Repair:  "when asked for this rule, repair removes names without a prompt, makes prompts without a parent roots, and breaks circles",
	},
	PromptDrift: {
		ID: "prompt-drift", Family: extensionFamily, Severity: Warning, Repairing: OnOrder,
		Summary: "a prompt of Auto-Illustrator belongs to another message than it says",
		Effect:  "messages were deleted in SillyTavern; the extension looks for the prompt in a message with another text, and makes a second one",
		Repair:  "when asked for this rule, repair assigns the prompt to the message that has its marker, and updates its id; without a marker it is left to you",
	},
	PromptMarker: {
		ID: "prompt-marker", Family: extensionFamily, Severity: Info,
		Summary: "a marker of Auto-Illustrator in a message names no prompt",
		Effect:  "the image can be neither regenerated nor refined; this happens in copies of a message, and in chats that lost the extension's state",
		Repair:  "leave it, or remove the marker by hand",
	},
	MemoryBook: {
		ID: "memory-book", Family: extensionFamily, Severity: Warning, Repairing: OnOrder,
		Summary: "a mark of STMemoryBooks is beyond the last message",
		Effect:  "the marked scene cannot be summarised, or new messages are taken for already summarised",
		Repair:  "mark the scene again in the extension; when asked for this rule, repair clears such a beginning of a scene, and sets its end and the highest memory to the last message",
	},
	LukerFloor: {
		ID: "luker-floor", Family: extensionFamily, Severity: Warning,
		Summary: "a floor log of Luker has floors beyond the last message, or cannot be read",
		Effect:  "Luker skips these floors until a message is added there, and then replays what belongs to another message",
		Repair:  "delete the floors from the log, or restore the messages",
	},
	LukerReplay: {
		ID: "luker-replay", Family: extensionFamily, Severity: Error,
		Summary: "a floor log of Luker cannot be replayed",
		Effect:  "when Luker next reads the log, it keeps a copy and cuts the log at that floor: what later messages changed is gone",
		Repair:  "correct the operation by hand, or choose the swipe that was chosen when it was made",
	},
	LukerState: {
		ID: "luker-state", Family: extensionFamily, Severity: Warning,
		Summary: "a Luker sidecar does not have the shape that Luker writes, or belongs to nothing",
		Effect:  "Luker ignores a sidecar that is not an object; where data has a log beside it, the log counts; commits after one of a later floor go too when messages are deleted",
		Repair:  "correct the file by hand, or delete it if nothing needs it",
	},
	LukerSlug: {
		ID: "luker-slug", Family: extensionFamily, Severity: Warning,
		Summary: "Luker's chat_sync sidecar cannot be read, or has no slug",
		Effect:  "Luker looks there first for the chat's slug, so it cannot tell whether a save overwrites another",
		Repair:  "open the chat in Luker and save it",
	},

	OrphanSidecar: {
		ID: "orphan-sidecar", Family: extensionFamily, Severity: Info,
		Summary: "a Luker sidecar that belongs to no chat in the folder",
		Effect:  "none, until a chat of that name is made: then Luker takes it for that chat's state",
		Repair:  "restore or rename the chat that it belongs to, or delete the sidecar",
	},

	MissingAttachment: {
		ID: "missing-attachment", Family: attachmentFamily, Severity: Warning,
		Summary: "an image or file of a message is not in the user folder",
		Effect:  "SillyTavern shows a broken image, or a file that cannot be opened",
		Repair:  "restore the file, or remove the attachment in SillyTavern",
	},
	LegacyMedia: {
		ID: "legacy-media", Family: attachmentFamily, Severity: Info, Repairing: OnOrder,
		Summary: "a message keeps its image, video or file in the form of SillyTavern 1.13 and earlier",
		Effect:  "none in SillyTavern, which turns them into lists when the chat is opened; other programs may look only at the lists",
		Repair:  "repair does what SillyTavern does when asked for this rule",
	},
}
