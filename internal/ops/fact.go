package ops

import "fmt"

// Fact is something that a verb did beside what it was asked for, or left as it was. cmd/stchat has the
// words for it.
type Fact struct {
	Kind      FactKind
	Path      string // the file that it is about
	Name, To  string // what is named, and what it became
	Count, Of int

	Warning string // what others than a person read of it, as a warning; "": nothing
}

// FactKind is what a [Fact] tells.
type FactKind int

// The kinds of facts, with what their fields are.
const (
	FactUnchanged     FactKind = iota // nothing had to be done
	FactLeftOut                       // Name: the keys whose values a merge or a patch cannot change
	FactRepeated                      // Count: the object, from 1, that the last message is already
	FactNamesKept                     // Count: names and IDs that stay
	FactAddressesKept                 // Count: places in addresses of pictures, files and pages that stay
	FactToolCalls                     // Count: tool calls that go along with the replies behind them
	FactSafeName                      // Name cannot be a file's name, so it is To
	FactNoBook                        // Count: chats without a lorebook, so that nothing is cloned
	FactSpeakers                      // Name: an owner whom no message names; speakers keep their names
	FactNoMembers                     // Name: who speaks in Count messages, and is not in the group
	FactMarked                        // Name: who speaks in Count messages, which name its card now, and is not in the group
	FactOthers                        // Name: whose Count messages keep their names and pictures
	FactLinks                         // Count: messages that had links to checkpoints and branches
	FactDeadLinks                     // Count: messages that had links to chats that are not there
	FactStateLeft                     // Name: the extensions whose state in the chat Path is left out
	FactSidecarLeft                   // Path: a file of Luker's that stays as it is, since only its extension knows what it holds
	FactSidecarSource                 // Path: a file of Luker's that belongs to the source alone; Name: why
	FactStdout                        // Count: messages, and Of: bytes, that would go to standard output
	FactGrown                         // Count: messages of the source, of which Of are here
	FactConverted                     // Name: what a converter says of its source
	FactCommitted                     // Count: the message of Luker's last commit, which the new one is of too
	FactSharedBook                    // Name: a lorebook with Count entries of extensions, which the new chat shares
	FactLostLink                      // Name: the chat whose link goes with a message
	FactReplacedLink                  // Name: the checkpoint that a message was linked to before
	FactParentCut                     // Name: the parent that a chat no longer has
	FactLinkCut                       // Name: the chat that a message no longer links to
	FactUnnamedBook                   // Name: a lorebook that no chat names any more
	FactUnreached                     // Name: what names a chat or a lorebook, and cannot be edited
	FactClipped                       // Count: the last message, at which a range ends instead of beyond it
	FactChatUser                      // Name: the user in a text, as the owner's chats call him
	FactOtherSwipe                    // Count: the swipe that the value is of, while Of is chosen in message Name
)

// Tell adds a fact.
func (r *Result[D]) Tell(f Fact) { r.Facts = append(r.Facts, f) }

// WarnSafeName warns that no file can have the name that was given for what is made of path, so that it is
// called safe instead.
func (r *Result[D]) WarnSafeName(path, given, safe string) {
	r.WarnOf(Fact{Kind: FactSafeName, Name: given, To: safe}, "%s: no file can have this name, so it is changed: %s → %s", path, given, safe)
}

// WarnOf adds a fact that one should know before relying on the result, which is a warning too.
func (r *Result[D]) WarnOf(f Fact, format string, args ...any) {
	f.Warning = fmt.Sprintf(format, args...)
	r.Tell(f)
	r.Warnings = append(r.Warnings, f.Warning)
}
