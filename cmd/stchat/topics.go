package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/edit"
)

// newHelpCommand returns the command that prints the help of a command, or a topic.
func newHelpCommand(c *console, root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND|TOPIC]",
		Short:                 "Print the help of a command, or about a topic",
		Long:                  topicList() + exitStatus(""),
		Example:               "  stchat help branch\n  stchat help messages\n  stchat help flags",
		DisableFlagsInUseLine: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && slices.Contains(topicNames(), args[0]) {
				newHelpPage(c).topic(args[0])
				return nil
			}
			command, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return onlyCommands(command, rest)
			}
			return command.Help()
		},
	}
}

// topicNames returns the topics of help.
func topicNames() []string { return []string{"flags", "messages", "values", "names", "files", "exit"} }

func topicList() string {
	return `The topics are:
  flags      the flags that many commands share
  messages   how messages are named: 17, -1, 3..9
  values     KEY=VALUE, JSON pointers, patches
  names      how chats are named: Mira/Harbour, Mira/@, "Mira/*"
  files      what stchat reads and writes, and where it keeps what
  exit       exit codes, and what goes to stdout and stderr
`
}

// topic writes what help says about a topic.
func (h *helpPage) topic(name string) {
	if name == "flags" {
		h.sharedFlags()
		return
	}
	h.text(map[string]string{"messages": messagesTopic, "values": valuesTopic, "names": namesTopic, "files": filesTopic, "exit": exitTopic}[name])
}

// sharedFlags lists the flags that many commands share, once.
func (h *helpPage) sharedFlags() {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	new(globals).addFlags(fs)
	fs.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{flagTopic: {everyCommand}} })
	new(console).addWriting(fs)
	new(choiceFlags).addFlags(fs)
	new(valueFlags).addFlags(fs)
	addTerms(fs, new(edit.Terms), "", nil)
	new(listFlags).addFlags(fs)

	about := map[string]string{
		choosing:     "messages, which must meet all that is given",
		values:       "values ('stchat help values')",
		editTerms:    "edits",
		manyFiles:    "lists of files",
		writing:      "every command that writes",
		everyCommand: "every command",
	}

	var sets groups[string, *pflag.Flag]
	fs.VisitAll(func(f *pflag.Flag) { sets.add(f.Annotations[flagTopic][0], f) })
	h.text("Flags that many commands share; the help of a command names the sets it has.")
	for _, title := range sets.keys {
		h.title("Flags of " + about[title])
		h.list(sets.of[title])
	}
}

const messagesTopic = `Messages count from 0, as #0 in what show prints. Behind the CHATs of a command
stand MESSAGES:

  17          message 17
  -1          the last
  3..9, 3-9   from 3 to 9, both included
  40..        from 40 to the end
  ..9         to 9
  -5..-1      the last five
  0,4,7..9    several

Of lone negative numbers only -1 is taken: for the third from the end there is
--at -3, for the last three --last 3. A date is no number: --since, --until.
-a, --at says MESSAGES as a flag, and takes the name of a checkpoint or branch
where one message is meant: --at "Before the storm".

Where a command only reads, and in hide and unhide, a range ends at the last
message; elsewhere an end beyond it is an error, and so is a number beyond it.
Without MESSAGES edit, delete and hide refuse; branch and checkpoint take the
last message, others all.

Roles: narrator and comment are marked so; another mark, a tool call, or a
hidden message of "System" is system; else it is the user's or the character's.
Hidden is no role: --role user finds hidden ones too.
`

const valuesTopic = `KEY=VALUE sets a value of the metadata (meta set, branch, checkpoint) or of a
message (edit). VALUE is JSON if it parses as JSON, else text; 'k="1"' is always
text. What SillyTavern keeps as text takes VALUE as text (scenario=1984).

A KEY that begins with / is a JSON pointer, such as /extra/model. In metadata,
note and lorebook stand for note_prompt and world_info; /note is the key note.

  --set main_chat=NAME    the parent; --unset main_chat removes it
  --set integrity=new     a new slug, or a UUID for one chat
  --merge FILE            its keys, the top level only
  --replace FILE          the whole
  --patch FILE            a list is RFC 6902, an object RFC 7386

The order is --replace, --merge, --patch, --set, --unset; branch and checkpoint
take --set and --unset as they stand.
`

const namesTopic = `A CHAT is the path of its file, or an address in a user folder: that of --data,
else the one that you are in, else that of STCHAT_DATA:

  Mira/Harbour      the chat Harbour of the character or group Mira
  Mira/storm        the one whose name has "storm" in it
  Mira/@            the one that is open there
  "Mira/*"          all of them; as the PATH of what only reads, Mira alone
  Holm/@            an owner by the beginning of a word of its name

Exact beats another letter case beats a part. What fits several is refused, with
up to ten of them. rm, delete, rename, move, merge and 'store --forget' take
whole names only, import, new and copy a whole OWNER; so do all that write in
"OWNER/*".

Nothing is written before every argument is understood: the first that means
nothing ends a call that writes, with exit code 2.
`

const filesTopic = `stchat reads and writes the user folder of SillyTavern: chats/, "group chats/",
groups/, characters/, worlds/ and user/. What it keeps lies in .stchat there:

  .stchat/ID       what undo and redo need, up to 2 GB; STCHAT_UNDO_MAX
  .stchat/history.db   the versions of snapshot; STCHAT_STORE names another
  NAME.damaged     beside a chat: what repair took out of it

A chat is never written in place: a new file takes its name once it is whole.
STCHAT_NO_SYNC=1 does not wait for the disk, for bulk work on copies.
STCHAT_NEW_SLUG=1 gives an edited chat a new integrity, so that an open tab is
stopped instead of saving over the edit. GOMAXPROCS limits the processors.
`

const exitTopic = `  0  done
  1  the answer is no: differences, findings, nothing found, a test or --expect
     that does not hold, or "no" to a question
  2  error: wrong usage, unreadable or damaged input, a file that exists, a
     failed write; of several chats the others are done
  130, 143  interrupted

Results go to stdout; notes, warnings and errors go to stderr. In a pipe there
are no colours, headings or cut lines, and a tab stands between columns. With
--json there is a document a line, also of an error, but for wrong usage
(docs/json.md).
`
