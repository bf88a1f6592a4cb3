// Package keep holds the verbs of the history: snapshot, log, restore, and the store itself.
// A verb that archives commits to the store first; files it writes through change sets.
package keep
