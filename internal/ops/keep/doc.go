// Package keep has snapshot, log, lost, restore and history: which files are taken, which file is which
// chat, which of SillyTavern's backups are whose, and what a version changed.
package keep
