package mend

import (
	"stchat/internal/autorecap"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
)

// identity gives a chat that shares its slug one of its own.
func (p *planner) identity(one *plan, have rules.Set) {
	if !have.Has(rules.IntegrityShared) {
		return
	}
	slug := rawjson.Quote(p.newUUID())
	one.header = append(one.header, headerEdit{
		rules.IntegrityShared, "gave the chat an integrity slug of its own",
		func(h *meta.Header) { h.Metadata().Set("integrity", slug) },
	})
}

// recap makes a running recap the chat's own that Auto-Recap would erase.
func (p *planner) recap(one *plan, have rules.Set) {
	if have.Has(rules.RecapChatID) {
		one.ownRecap(rules.RecapChatID)
	}
}

// ownRecap makes the running recap the chat's own.
func (p *plan) ownRecap(id rules.ID) {
	p.header = append(p.header, headerEdit{id, "set chat_id of the running recap to this chat", func(h *meta.Header) {
		autorecap.OwnRunning(h.Metadata(), p.chat.Name)
	}})
}
