package all

import "stchat/internal/extension"

// rows are the extensions that need no code of their own: what is known of them is where they keep
// numbers of messages and names. Each row follows from what the extension does with a value that is
// gone; where that was read is said beside it.
func rows() []extension.Row {
	return []extension.Row{
		// Summarize comes with SillyTavern 1.19 (extensions/memory/index.js): the latest message with
		// a summary is looked for, so each goes with its message.
		{Extension: "Summarize", File: extension.Extra, Path: "memory", Holds: extension.Text, What: "the summary"},

		// CharMemory 2.3.0 (index.js of bal-spec/sillytavern-character-memory at 61a799e): what is
		// new begins behind lastExtractedIndex, so nothing is new while that is beyond the end
		// (collectRecentMessages). The fork Echo-Storm at 07758e9 sets it to the last message.
		// injectionData is what was in the prompt of a reply, shown beside it. Of which messages
		// messagesSinceExtraction counts is not said; it only says when to begin.
		{Extension: "CharMemory", Path: "charMemory/lastExtractedIndex", Holds: extension.Last, None: "-1"},
		{Extension: "CharMemory", Path: "charMemory/injectionData/#", Holds: extension.Index, What: "prompt note"},

		// MessageSummarize 1.3.25 (index.js of qvink/SillyTavern-MessageSummarize at 0ce8dab): each
		// summary is in its message (set_data). In the metadata are two settings: enabled, profile.
		{Extension: "MessageSummarize", File: extension.Extra, Path: "qvink_memory/memory", Holds: extension.Text, What: "the summary"},
		{Extension: "MessageSummarize", Path: "qvink_memory", Holds: extension.Apart},

		// Context Truncator 2.0.0 (index.js of Shadota/SillyTavern-Context-Truncator at b38524c): messages
		// before truncation_index are left out of the prompt; it is lowered where messages are deleted
		// before it, and to the length of a shorter chat. It is found anew when the chat is longer than
		// last_stable_chat_length, so it stays as it is while that is beyond the end.
		{Extension: "Context Truncator", Path: "context_truncator/truncation_index", Holds: extension.Count, Heals: true},
		{Extension: "Context Truncator", Path: "context_truncator/last_stable_chat_length", Holds: extension.Count},
		{Extension: "Context Truncator", File: extension.Extra, Path: "context_truncator/memory", Holds: extension.Text, What: "the summary"},

		// st-memory-enhancement 2.2.18 (core/manager.js and core/table/sheet.js of
		// muyoou/st-memory-enhancement at 3ae69c9): what the tables hold after a message is in the
		// message, and the last one that has it counts (getLastSheetsPiece). The metadata has all
		// cells that there ever were, and which tables are chosen. dataTable is of old versions.
		{Extension: "st-memory-enhancement", File: extension.Line, Path: "hash_sheets", Holds: extension.Text, What: "the state of the tables"},
		{Extension: "st-memory-enhancement", File: extension.Line, Path: "dataTable", Holds: extension.Text, What: "the state of the tables"},
		{Extension: "st-memory-enhancement", Path: "sheets", Holds: extension.Apart},
		{Extension: "st-memory-enhancement", Path: "selected_sheets", Holds: extension.Apart},

		// LittleWhiteBox 3.0.4 (RT15548/LittleWhiteBox at 3881885). Variables, first version
		// (variables-core.js): LWB_SNAP has the variables after each message; where messages are
		// deleted, those before the first of them come back, and the snapshots behind go.
		// Second version (state2/executor.js): what each message changed, and all variables after
		// every fiftieth, which go likewise (trimStateV2FromFloor). What was applied already is
		// forgotten whenever the chat is opened.
		{Extension: "LittleWhiteBox", Path: "LWB_SNAP/#", Holds: extension.Index, What: "snapshot", Leaves: "variables that it set"},
		{Extension: "LittleWhiteBox", Path: "extensions/LittleWhiteBox/stateLogV2/floors/#", Holds: extension.Index, What: "variable log", Leaves: "variables that it set"},
		{Extension: "LittleWhiteBox", Path: "extensions/LittleWhiteBox/stateCkptV2/points/#", Holds: extension.Index, What: "variable checkpoint"},
		{Extension: "LittleWhiteBox", Path: "LWB_PLOT_APPLIED_KEY", Holds: extension.Apart},
		{Extension: "LittleWhiteBox", Path: "LWB_STATE_APPLIED_KEY", Holds: extension.Apart},
		// What it remembers of each message (state-store.js) is deleted from the first message on that
		// is deleted, and made anew where it is missing. It cannot move: its ids have the number of
		// the message in them (atom-extraction.js), and one that exists is not made again.
		{Extension: "LittleWhiteBox", Path: "extensions/LittleWhiteBox/stateAtoms/*/floor", Holds: extension.Place, What: "memory atom"},
		{Extension: "LittleWhiteBox", Path: "extensions/LittleWhiteBox/l0Index/byFloor/#", Holds: extension.Place, What: "memory note"},
		// The summary (story-summary/data/store.js) has an undo for each step, which the extension
		// plays back if messages are missing, and refuses if the steps do not fit together.
		{
			Extension: "LittleWhiteBox", Path: "extensions/LittleWhiteBox/storySummary/lastSummarizedMesId", Holds: extension.Last,
			Stays: "the extension takes back its summary of messages that are gone",
		},
		// What the character and the user say of the story (fourth-wall.js).
		{Extension: "LittleWhiteBox", Path: "@/extensions/LittleWhiteBox/fw", Holds: extension.OwnChat},
		// Rules of variables, and the story's outline, are of no message.
		{Extension: "LittleWhiteBox", Path: "LWB_RULES", Holds: extension.Apart},
		{Extension: "LittleWhiteBox", Path: "LWB_RULES_V2", Holds: extension.Apart},
		{Extension: "LittleWhiteBox", Path: "LWB_V1_OWNED_ROOTS", Holds: extension.Apart},
		{Extension: "LittleWhiteBox", Path: "LittleWhiteBox_StoryOutline", Holds: extension.Apart},

		// Multihog D&D Framework 2026.8.24.1 (MultihogAurelius/SillyTavern-MultihogDnDFramework at
		// e7ec395): a campaign is kept by the name of its chat. It follows a chat that is renamed, if
		// there is none of the new name yet, and so do the two other places
		// (chat-rename-migrate.js). A chat that is deleted leaves it behind.
		{
			Extension: "Multihog", File: extension.Settings, Path: "extension_settings/rpg_tracker/chatStates/@", Holds: extension.OwnChat,
			Leaves: "the prefix of its lorebooks, which is made of the old name: set that as Campaign Prefix Override",
		},
		{Extension: "Multihog", File: extension.Settings, Path: "extension_settings/rpg_tracker/routerHistory/*/chatId", Holds: extension.OwnChat},
		{Extension: "Multihog", File: extension.Settings, Path: "extension_settings/rpg_tracker/routerCampaignPrefixOverrideAnchorChatId", Holds: extension.OwnChat},
	}
}
