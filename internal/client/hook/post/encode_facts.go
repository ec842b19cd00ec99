package post

import "github.com/svc-hq/svc/internal/core/coord"

// analysis writes what was found about files.
func (w *writer) analysis(a *coord.Analysis) {
	if a == nil {
		return
	}
	w.object("analysis", func() {
		w.flag("truncated", a.Truncated)
		w.mark("late", a.Late)
		w.list("files", len(a.Files), func(i int) { w.file(&a.Files[i]) })
	})
}

func (w *writer) file(f *coord.FileFacts) {
	w.text("path", f.Path, true)
	w.optional("old_path", f.OldPath)
	w.text("status", string(f.Status), true)
	w.text("language", f.Language, true)
	w.flag("parsed", f.Parsed)
	w.flag("binary", f.Binary)
	w.flag("generated", f.Generated)
	w.optional("base_blob", f.BaseBlob)
	w.optional("new_blob", f.NewBlob)
	w.hunks("hunks", f.Hunks, true)
	w.list("symbols", len(f.Symbols), func(i int) { w.symbol(&f.Symbols[i]) })
	w.list("contracts", len(f.Contracts), func(i int) { w.contract(&f.Contracts[i]) })
	w.list("references", len(f.References), func(i int) { w.reference(&f.References[i]) })
}

func (w *writer) symbol(s *coord.SymbolFacts) {
	w.text("key", s.Key, true)
	w.text("kind", s.Kind, true)
	w.flag("exported", s.Exported)
	w.text("change", string(s.Change), true)
	w.signatures(s.Signature, s.PreviousSignature, s.SignatureHash, s.PreviousSignatureHash)
	w.text("compatibility", string(s.Compatibility), true)
	w.optional("detail", s.Detail)
	if s.TextHash != nil {
		w.optional("text_hash", s.TextHash)
	}
	if s.Lines == nil {
		w.null("lines")
	} else {
		w.object("lines", func() {
			w.number("start", s.Lines.Start, true)
			w.number("count", s.Lines.Count, true)
		})
	}
	w.takes(s.Takes)
	w.mark("sole", s.Sole)
}

func (w *writer) signatures(now, before, hash, hashBefore *string) {
	w.optional("signature", now)
	w.optional("previous_signature", before)
	w.optional("signature_hash", hash)
	w.optional("previous_signature_hash", hashBefore)
}

func (w *writer) contract(c *coord.ContractFacts) {
	w.text("key", c.Key, true)
	w.text("role", string(c.Role), true)
	w.text("change", string(c.Change), true)
	w.signatures(c.Signature, c.PreviousSignature, c.SignatureHash, c.PreviousSignatureHash)
	w.text("compatibility", string(c.Compatibility), true)
	w.optional("detail", c.Detail)
	w.number("line", c.Line, true)
	w.takes(c.Takes)
	if len(c.Fields) > 0 {
		w.list("fields", len(c.Fields), func(i int) {
			w.text("name", c.Fields[i].Name, true)
			w.number("line", c.Fields[i].Line, false)
		})
	}
}

func (w *writer) reference(r *coord.Reference) {
	w.text("key", r.Key, true)
	w.number("line", r.Line, true)
	if r.Call != nil {
		w.object("call", func() {
			w.number("args", r.Call.Args, true)
			w.texts("named", r.Call.Named, false)
			w.mark("spread", r.Call.Spread)
		})
	}
	w.texts("in", r.In, false)
	w.text("via", r.Via, false)
}

// takes writes the parameters of each overload.
func (w *writer) takes(overloads [][]coord.Param) {
	if len(overloads) == 0 {
		return
	}
	w.key("takes")
	w.open('[')
	for _, params := range overloads {
		w.comma()
		w.items(len(params), func(i int) {
			p := &params[i]
			w.text("name", p.Name, false)
			w.mark("optional", p.Optional)
			w.mark("rest", p.Rest)
			w.mark("keyword", p.Keyword)
			w.mark("moved", p.Moved)
			w.mark("changed", p.Changed)
		})
	}
	w.close(']')
}
