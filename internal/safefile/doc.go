// Package safefile puts a file in place whole, or not at all.
//
// Content is written to a temporary file beside its target ([New], [Temp.Write]) and
// then published with one of two verbs. [Temp.Create] gives it a name that must not
// exist yet; [Temp.Replace] puts it in the place of a file that the caller has read
// and that must still be as it was read ([Stamp]). If anything fails on the way, the
// temporary file is removed and the target is left as it was. Package changeset
// handles several files that belong together: it calls [Temp.Prepare] on each, and
// gives them their names with a [Disk].
//
// A file is recognised in the same run by its [Stamp], and in another run by its
// [Ident].
//
// # What is promised
//
//   - Nobody ever sees half a file under the target's name.
//   - Create never overwrites. A file, folder, FIFO or symlink of that name, even a
//     dangling one or one that appears at the last moment, is an [ExistsError].
//   - Replace never turns a symlink into a file: the link is resolved on purpose and
//     the file behind it is replaced. It refuses what is not a regular file, a file
//     without write permission, and a file that changed since it was read.
//   - Unless [Options.NoSync] is set, the content is on the disk before it gets its
//     name, and the name is on the disk before the verb returns. Where the file
//     system does not support syncing, it is left out.
//   - Replace keeps the mode, and the owner and group as far as the user may set
//     them. A new file gets 0666 less the umask.
//
// # What is not
//
//   - Replace makes a new file: other hard links to the old one keep the old content,
//     and extended attributes, ACLs, alternate streams and creation times are lost.
//   - The stamp is compared immediately before the rename, but no system offers the
//     two as one step: a program that writes in those microseconds loses its change.
//   - Where neither hard links nor a rename that refuses to replace exist (some
//     network and phone storage), Create reserves the name with an empty file
//     first. A crash in that moment leaves the empty file.
//   - On Windows a rename replaces, but the system does not promise that a power loss
//     cannot separate its steps, and folders cannot be synced; the renames ask for
//     write-through instead. If another program (a virus scanner, an editor) holds
//     the target open, the rename is tried again for about a second before it fails.
//   - Temporary files of a crashed process stay until [RemoveStale] can prove that
//     the process is gone. Those of an earlier boot of the machine, or of another
//     machine that shares the folder, stay: nothing proves it for them.
//
// Paths in errors are raw: code that prints them must make control characters
// visible.
package safefile
