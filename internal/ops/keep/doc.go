// Package keep holds the verbs of the history: snapshot, log, restore, and those for the
// store itself. A verb that archives commits to the store before anything else, and writes
// the user's files through change sets.
package keep
