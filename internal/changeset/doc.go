// Package changeset is the one way in which files come to be, change and go.
//
// A verb describes what belongs together as a [Unit]: a function that reads, judges, and
// writes new content into drafts, temporary files beside their targets. When it returns,
// nothing has a name yet. [Run] commits: all of the unit, or nothing.
//
// # The protocol
//
// A set of one new file is published with one link, and needs none of the following.
// Every other set is committed in these steps:
//
//  1. The drafts are complete: rendered, with mode and owner, on the disk, closed. All
//     that can run out of space has done so.
//  2. The root, a SillyTavern user's folder or else the chat's own, is locked against
//     other runs of this program. Nobody holds the lock while he drafts. Journals of
//     dead runs are ended first; a call that was also the last to hold the lock, which
//     .stchat/turn tells, has none to look for.
//  3. Every file that was judged by is looked at. An edit by meaning (a name in a group's
//     list) is rendered anew where its file was saved meanwhile; anything else drops the
//     set.
//  4. A journal is written to ROOT/.stchat/ID.journal: what is to be done with which
//     files, and by what each is known again (inode, size, time). Its appearance under
//     that name is the decision: before it nothing has happened, after it everything will.
//  5. The steps: create, replace, remove. So a name is there before something leads to it,
//     and nothing leads to it any more when it goes. What is replaced or removed is first
//     hard-linked into .stchat, and compared with what was judged.
//  6. The folders are synced, and the journal becomes ID.done: the record for [Undo].
//
// A run that is killed before 4 leaves drafts, which a later one sweeps away. One that is
// killed after it leaves a journal. Whoever holds the lock and sees a journal knows that
// its run is gone, and ends the set ([Recover]): forward, if every step was made or still
// can be; else back, if every step that was made can be taken back; else it is stuck, and
// nobody touches its files until a person decides ([Settle]). The bytes of somebody who wrote to a
// file in between are never overwritten.
//
// # Limits
//
//   - Between the last look at a file and the rename that replaces it lie microseconds in
//     which no system keeps others out. SillyTavern takes no locks and writes chats, groups
//     and settings whole, from what it holds in memory.
//   - A disk whose clock counts whole seconds gives two saves within one of them the same
//     time. One of the same size and in place is noticed while an edit waits to be
//     committed, by the file's content, but not between a verb's reading and the rendering.
//     Undo compares the content of a file of up to 1 MB, too, where its time is a whole second.
//   - A loss of power is met as far as syncing goes: drafts, the journal and the names that
//     it decides on are synced in this order. Disks that lie about it are believed.
//   - Where there are no hard links (FAT, Android), what is kept is copied up to 64 MB;
//     a larger file is renamed, so for a moment it has no name. Only the journal covers
//     that moment. A moved file has no two names in between.
//   - A journal that cannot be read names no files. It is told at every call, and the drafts
//     of dead runs are not swept, since it may name them; [Settle] sets it aside with what
//     was kept for it, and [Discard] drops both.
//   - A journal is a file from a stranger, too: a path that leads outside its root, or a
//     name in .stchat that is not its own, makes it one that cannot be read.
//   - A journal proves nothing about a folder that was copied, or stands on another
//     machine: there nothing is done unasked.
//   - Where there are no locks (some network disks) a run is known to be gone by host,
//     boot and process.
//   - What is kept shares its bytes with any other hard link that the file has: a program
//     that writes into one in place changes the other. Undo sees that, and refuses.
//
// # Where it is
//
// run.go drafts the units and joins those that share a file; commit.go brings what they
// drafted (plan.go) into its order, and compose.go writes the journal. Journals are played
// by three types: view sees what has become of each step (and places.go where its files
// are), stepper makes one or takes it back, player goes through them all. recover.go ends
// what dead runs began, undo.go and inverse.go draft what takes a record back, store.go is
// the folder .stchat.
package changeset
