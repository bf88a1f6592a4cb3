package rules

import "fmt"

// Severity is how bad a finding is.
type Severity uint8

// The severities, the mildest first.
const (
	Info    Severity = iota + 1 // good to know
	Warning                     // wrong, shared or pointing nowhere
	Error                       // SillyTavern or an extension loses, hides or misreads data
)

// String returns the severity's name.
func (s Severity) String() string { return [...]string{"none", "info", "warning", "error"}[s] }

// ParseSeverity returns the severity with the name. The error lists the names.
func ParseSeverity(s string) (Severity, error) {
	for _, severity := range [...]Severity{Error, Warning, Info} {
		if severity.String() == s {
			return severity, nil
		}
	}
	return 0, fmt.Errorf("unknown severity %q; choose error, warning or info", s)
}

// Repairing is what repair does about a rule's findings.
type Repairing uint8

// The ways of repairing. Repair leaves even a Repaired finding where it would have to
// guess; the rule's section in docs/rules.md says when.
const (
	ByHand   Repairing = iota // nothing: a person must decide
	Repaired                  // repair does it
	OnOrder                   // repair does it only when the rule is asked for by name
)

// Rule describes one problem that check looks for.
type Rule struct {
	ID        string
	Family    string
	Severity  Severity
	Repairing Repairing
	Summary   string // one line, without a full stop
	Effect    string // what SillyTavern or an extension does because of it
	Repair    string // what repair does about it, or how to repair it by hand
}

// editsHead reports whether repair puts right what the rule finds in the chat's metadata by editing them.
func (id ID) editsHead() bool { return id.Rule().Repairing != ByHand && id != UnlistedBranch }

// ID is a rule's number; its name is [ID.String].
type ID uint8

// The rules, in the order of their families.
const (
	UnfinishedChange ID = iota
	EmptyFile
	HeaderOnly
	UTF16
	JSONLayout
	JoinedLines
	BOM
	CRLF
	NUL
	InvalidUTF8
	InvalidJSON
	TornTail
	NotAnObject
	TooDeep
	DuplicateKey
	NoHeader
	MisplacedHeader

	MessageShape
	SwipeID
	SwipeText
	SwipeInfo
	BadDate
	DateOrder

	IntegrityMissing
	IntegrityShared

	DanglingMainChat
	DanglingCheckpoint
	DanglingBranch
	UnlistedBranch
	MissingMainChat
	ChatCycle
	DivergedCheckpoint
	UnsafeName
	WrongExtension
	NameTooLong
	FolderWithoutCard
	StrayChat

	GroupUnlisted
	GroupMissingChat
	GroupTwice
	GroupOldLayout

	LorebookMissing
	LorebookUnreadable
	LorebookMismatch
	LorebookSharedState
	LorebookQueue
	RegistryUID
	RegistryIndex

	RecapChatID
	RecapVersion
	RecapScene
	RecapShape
	BeyondEnd
	CombinedRecap
	PendingOld
	PromptShape
	PromptDangling
	PromptDrift
	PromptMarker
	MemoryBook
	LukerFloor
	LukerReplay
	LukerState
	LukerSlug
	OrphanSidecar

	MissingAttachment
	LegacyMedia

	ruleCount
)

// String returns the rule's name, as check prints it.
func (id ID) String() string { return table[id].ID }

// Rule returns the rule itself.
func (id ID) Rule() *Rule { return &table[id] }

// All returns every rule in the order of the families.
func All() []ID {
	ids := make([]ID, ruleCount)
	for i := range ids {
		ids[i] = ID(i)
	}
	return ids
}

// Find returns the rule with the name. The error names an unknown one.
func Find(name string) (ID, error) {
	for id := range table {
		if table[id].ID == name {
			return ID(id), nil
		}
	}
	return 0, fmt.Errorf("there is no rule %q", name)
}

// Set is a set of rules. Sets of the same rules are equal by ==.
type Set struct {
	low, high uint64 // of the rules below setHalf, and of the others
}

// setHalf is how many rules one half of a [Set] holds.
const setHalf = 64

// SetOf returns the set of the rules.
func SetOf(ids ...ID) Set {
	var s Set
	for _, id := range ids {
		if id < setHalf {
			s.low |= 1 << id
		} else {
			s.high |= 1 << (id - setHalf)
		}
	}
	return s
}

// Has reports whether the rule is in the set.
func (s Set) Has(id ID) bool {
	if id < setHalf {
		return s.low>>id&1 == 1
	}
	return s.high>>(id-setHalf)&1 == 1
}

// HasAny reports whether one of the rules is in the set.
func (s Set) HasAny(of Set) bool { return !s.And(of).IsEmpty() }

// IsEmpty reports whether no rule is in the set.
func (s Set) IsEmpty() bool { return s == Set{} }

// With returns the rules that are in one of the two sets.
func (s Set) With(more Set) Set { return Set{s.low | more.low, s.high | more.high} }

// And returns the rules that are in both sets.
func (s Set) And(other Set) Set { return Set{s.low & other.low, s.high & other.high} }

// Without returns the rules of the set that are not in the other.
func (s Set) Without(other Set) Set { return Set{s.low &^ other.low, s.high &^ other.high} }

// Repairable returns the rules that repair deals with without being asked by name.
func Repairable() Set {
	var ids []ID
	for id := range table {
		if table[id].Repairing == Repaired {
			ids = append(ids, ID(id))
		}
	}
	return SetOf(ids...)
}
