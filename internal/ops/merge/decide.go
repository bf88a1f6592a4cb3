package merge

import (
	"path/filepath"
	"slices"

	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
)

// decide says what becomes of each chat of FROM, and what it is called in INTO; parents go before their children.
// It reads nothing.
func (o *owner) decide(copies []*match) {
	for _, m := range copies {
		o.works = append(o.works, o.newWork(m))
	}
	for _, w := range o.works {
		o.name(w)
		o.to[w.from.name] = w.name
		o.goesOn[w.from.name] = w.goesOn
		if w.into != nil {
			o.copied[w.into.name] = true
		}
		if w.name != w.from.name {
			o.renames = true
		}
	}

	o.works = parentsFirst(o.works)
}

// newWork returns a chat of FROM with the row that says what becomes of it.
func (o *owner) newWork(m *match) *work {
	path := o.ours.folder.File(m.from.name)
	if m.into != nil {
		path = m.into.path
	}
	w := &work{owner: o, match: m, job: *newJob(SoloChat, m.from.path, path), links: map[int][]link{}}
	bothNamed := m.by == ByName && userdir.HasExtension(o.opt.Into)
	if m.by != "" && !bothNamed {
		w.row.By = &m.by
	}

	v := m.judge()
	w.row.Sign = v.sign
	w.row.Own = v.own
	w.row.OwnFrom = v.ownFrom
	w.row.At = v.at
	w.row.tell(v.told...)
	if v.err != nil {
		w.row.refuse(v.err)
	}
	if v.deleted {
		o.deleted[m.from.name] = true
	}

	if o.group != nil {
		w.listIn(o.group)
	}
	w.look = w.collect
	w.compare = w.compareHeaders
	if o.user == nil { // else names are known later
		w.compare()
	}
	return w
}

// name gives the chat its name in INTO.
func (o *owner) name(w *work) {
	if !w.isNew() {
		w.name = w.from.name
		if w.into != nil {
			w.name = w.into.name
		}
		return
	}

	isHere := func(name string) bool { return o.has(name) || len(o.ours.folder.Sidecars(name)) > 0 }
	isComing := func(name string) bool { return o.coming[names.FoldNFC(name)] }
	most := names.MaxBytes
	if len(w.from.sidecars) > 0 {
		most = names.MaxLuker
	}
	w.name = newName(w.from.name, isHere, isComing)
	if w.row.Sign == Parted {
		w.name = branchName(w.from.name, o.label, most, isHere, isComing)
	}

	path := filepath.Join(o.ours.folder.Path, w.name+names.Extension)
	o.given[names.FoldNFC(path)] = true
	w.row.To = &path
	w.row.rename(w.from.name, w.name)
	if w.into == nil {
		w.row.Path = path
	}
}

// parentsFirst returns chats in their order, but parents before their children.
func parentsFirst(works []*work) (list []*work) {
	byName := map[string]*work{}
	for _, w := range works {
		byName[w.from.name] = w
	}
	done := map[*work]bool{}
	for _, w := range works {
		var way []*work
		for at := w; at != nil && !done[at]; at = byName[at.from.mainChat] {
			done[at] = true
			way = append(way, at)
		}
		slices.Reverse(way)
		list = append(list, way...)
	}
	return list
}
