package coord

import "slices"

// The facts about an edit. The client computes them from the code; they never
// hold the code itself, and signature texts only in full data mode.

// An Analysis is the whole state of the touched files against their base, not
// the delta of one edit: sending it twice changes nothing.
type Analysis struct {
	Truncated bool        `json:"truncated" doc:"A limit or the time budget cut it short"`
	Late      bool        `json:"late,omitempty" doc:"Not all that depends on these files was followed in time; it is told with a later edit or turn"`
	Files     []FileFacts `json:"files" maxItems:"500"`
}

// Limits of one analysis; beyond them it is Truncated.
const (
	MaxAnalysisFiles   = 500
	MaxAnalysisHunks   = 2000
	MaxAnalysisSymbols = 5000
)

// A FileStatus is what became of a file against its base.
type FileStatus string

const (
	FileAdded     FileStatus = "added"
	FileModified  FileStatus = "modified"
	FileDeleted   FileStatus = "deleted"
	FileRenamed   FileStatus = "renamed"
	FileUnchanged FileStatus = "unchanged" // the edit was undone
)

// Enum lists the values for validation and the API document.
func (FileStatus) Enum() []string {
	return enum([]FileStatus{FileAdded, FileModified, FileDeleted, FileRenamed, FileUnchanged})
}

// FileFacts are the facts about one file.
type FileFacts struct {
	Path       string          `json:"path" minLength:"1" maxLength:"1024"`
	OldPath    *string         `json:"old_path" maxLength:"1024" doc:"The path it was renamed from"`
	Former     []string        `json:"former,omitempty" maxItems:"5" itemMinLength:"1" itemMaxLength:"1024" doc:"Names that the file had on the default branch before the base, in the last year: who started earlier knows it by one of them"`
	Status     FileStatus      `json:"status"`
	Language   string          `json:"language" maxLength:"40"`
	Parsed     bool            `json:"parsed"`
	Binary     bool            `json:"binary"`
	Generated  bool            `json:"generated"`
	BaseBlob   *string         `json:"base_blob" maxLength:"64" doc:"Git blob id that the ranges refer to; null for a new file"`
	NewBlob    *string         `json:"new_blob" maxLength:"64" doc:"Git blob id of the content now; null for a deleted file"`
	Hunks      []Hunk          `json:"hunks" maxItems:"2000"`
	Symbols    []SymbolFacts   `json:"symbols" maxItems:"5000"`
	Contracts  []ContractFacts `json:"contracts" maxItems:"5000"`
	References []Reference     `json:"references" maxItems:"5000" doc:"Uses of symbols and contracts that the base did not have"`
	Candidates []Candidate     `json:"candidates,omitempty" maxItems:"500" doc:"Texts in the shape of a path that the base did not have"`
	Lost       []LostName      `json:"lost,omitempty" maxItems:"50" doc:"Names of fields, values and the like that the base had: who uses them elsewhere is found by the name"`
	Came       []string        `json:"came,omitempty" maxItems:"200" itemMaxLength:"8" doc:"Hashes of such names that the base did not have: what one file lost and another got only moved"`
}

// MaxCandidates is how many texts of one file are kept.
const MaxCandidates = 500

// A Candidate is a text of a file that has the shape of a path. It becomes a use
// where a route that is known fits it; nobody is shown it before.
type Candidate struct {
	Line   int    `json:"line" minimum:"0"`
	Form   string `json:"form" minLength:"1" maxLength:"150" doc:"Its elements as hashes, * for what is filled in"`
	Method string `json:"method,omitempty" maxLength:"10" doc:"The method that is written beside it; none if any may be meant"`
	Guess  string `json:"guess,omitempty" maxLength:"10" doc:"The method that a name around it makes likely"`
	Via    string `json:"via,omitempty" maxLength:"8" doc:"Hash of what it is handed to: of two texts with the same, both are uses or neither"`
}

// A Hunk is a range of the base blob that was replaced.
type Hunk struct {
	Start     int    `json:"start" minimum:"1" doc:"First replaced line of the base, from 1; for an insertion the line it comes before"`
	Count     int    `json:"count" minimum:"0" doc:"Replaced lines; 0 is an insertion before start"`
	LinesHash string `json:"lines_hash" maxLength:"64" doc:"Hash of the new lines"`
}

// A LineMap tells which lines of one version of a file became which of another:
// git's diff of the two, without the text. It brings the ranges of two workers
// that started from different versions into one count.
type LineMap struct {
	From   string      `json:"from" minLength:"1" maxLength:"64" doc:"Git blob id of one version"`
	To     string      `json:"to" minLength:"1" maxLength:"64" doc:"Git blob id of the other"`
	Shifts []LineShift `json:"shifts" maxItems:"2000" doc:"What differs, in the order of the lines"`
	At     Time        `json:"-"` // when it was told
}

// A LineShift is a range of lines of one version and what stands in its place
// in the other. A range of no lines stands before its start. The hashes are
// those that the hunks of a change have: by them a change is known that the
// default branch has made or undone itself.
type LineShift struct {
	FromStart int    `json:"from_start" minimum:"1"`
	FromCount int    `json:"from_count" minimum:"0"`
	ToStart   int    `json:"to_start" minimum:"1"`
	ToCount   int    `json:"to_count" minimum:"0"`
	FromHash  string `json:"from_hash,omitempty" maxLength:"64" doc:"Hash of the lines in one version"`
	ToHash    string `json:"to_hash,omitempty" maxLength:"64" doc:"Hash of the lines in the other"`
}

// Sound reports whether a map's ranges follow each other and leave the same
// lines between them on both sides, as those of a diff do.
func (m *LineMap) Sound() bool {
	from, to := 1, 1
	for _, s := range m.Shifts {
		if s.FromCount < 0 || s.ToCount < 0 || s.FromStart < from || s.FromStart-from != s.ToStart-to {
			return false
		}
		from, to = s.FromStart+s.FromCount, s.ToStart+s.ToCount
	}
	return m.From != m.To
}

// Reversed returns the map of the other direction.
func (m LineMap) Reversed() LineMap {
	out := LineMap{From: m.To, To: m.From, Shifts: make([]LineShift, len(m.Shifts))}
	for i, s := range m.Shifts {
		out.Shifts[i] = LineShift{s.ToStart, s.ToCount, s.FromStart, s.FromCount, s.ToHash, s.FromHash}
	}
	return out
}

// A Change tells what became of a definition or contract.
type Change string

const (
	Added     Change = "added"
	Removed   Change = "removed"
	Modified  Change = "modified"  // the body
	Signature Change = "signature" // what users of it see
	Same      Change = "unchanged"
)

// Enum lists the values for validation and the API document.
func (Change) Enum() []string { return enum([]Change{Added, Removed, Modified, Signature, Same}) }

// A Compatibility tells whether users of the old form still work.
type Compatibility string

const (
	Compatible Compatibility = "compatible"
	Breaking   Compatibility = "breaking"
	Unknown    Compatibility = "unknown" // never blocks
)

// Enum lists the values for validation and the API document.
func (Compatibility) Enum() []string {
	return enum([]Compatibility{Compatible, Breaking, Unknown})
}

// SymbolFacts tell what happened to one definition.
type SymbolFacts struct {
	Key                   string        `json:"key" minLength:"1" maxLength:"1024" doc:"sym:<lang>:<path>#<name>"`
	Kind                  string        `json:"kind" maxLength:"40"`
	Exported              bool          `json:"exported"`
	Change                Change        `json:"change"`
	Signature             *string       `json:"signature" maxLength:"4000"`
	PreviousSignature     *string       `json:"previous_signature" maxLength:"4000"`
	SignatureHash         *string       `json:"signature_hash" maxLength:"64"`
	PreviousSignatureHash *string       `json:"previous_signature_hash" maxLength:"64"`
	Compatibility         Compatibility `json:"compatibility"`
	Detail                *string       `json:"detail" maxLength:"500" doc:"What changed, in a few words"`
	TextHash              *string       `json:"text_hash,omitempty" maxLength:"64" doc:"Hash of its text now, without that of nested definitions; null when removed"`
	Lines                 *LineCount    `json:"lines" doc:"Where it stands in the base; null when added"`
	Takes                 [][]Param     `json:"takes,omitempty" maxItems:"50" doc:"Its parameters now, for each overload, when they alone make it incompatible: then a call that fits them still works"`
	Given                 bool          `json:"given,omitempty" doc:"Only what it gives back changed: who calls it and does nothing with that goes on to work"`
	Needs                 []string      `json:"needs,omitempty" maxItems:"50" itemMaxLength:"200" doc:"Nothing but these members changed it, which a type that implements it, or code that makes one, must now have"`
	Meaning               bool          `json:"meaning,omitempty" doc:"It is used as before and may mean something else, as the detail says. A call that does not fit what it takes is not concerned"`
	Sole                  bool          `json:"sole,omitempty" doc:"Nothing else in the working copy goes by its last name: removed, no code mentions that any more; changed, it is the only definition of it and every call fits. New mentions elsewhere can only mean it"`
}

// A LineCount is a range of lines by start and count.
type LineCount struct {
	Start int `json:"start" minimum:"1"`
	Count int `json:"count" minimum:"0"`
}

// A ContractRole tells on which side of a contract code stands.
type ContractRole string

const (
	Provides ContractRole = "provides"
	Uses     ContractRole = "uses"
)

// Enum lists the values for validation and the API document.
func (ContractRole) Enum() []string { return []string{string(Provides), string(Uses)} }

// A UseState tells how a place that uses a contract stands to what becomes of it.
type UseState string

const (
	UseStands  UseState = "uses"     // nothing that is known of breaks it
	UseFails   UseState = "fails"    // a change breaks it
	UseMayFail UseState = "may_fail" // a change may break it
	UseFits    UseState = "fits"     // a change breaks others, and not this one
	UseMoving  UseState = "moving"   // work that has not landed leaves the old form
	UseMoved   UseState = "moved"    // merged work left it
)

// Enum lists the values for validation and the API document.
func (UseState) Enum() []string {
	return enum([]UseState{UseStands, UseFails, UseMayFail, UseFits, UseMoving, UseMoved})
}

// ContractFacts tell what happened to one contract in a file.
type ContractFacts struct {
	Key                   string          `json:"key" minLength:"1" maxLength:"1024"`
	Role                  ContractRole    `json:"role"`
	Change                Change          `json:"change"`
	Signature             *string         `json:"signature" maxLength:"4000"`
	PreviousSignature     *string         `json:"previous_signature" maxLength:"4000"`
	SignatureHash         *string         `json:"signature_hash" maxLength:"64"`
	PreviousSignatureHash *string         `json:"previous_signature_hash" maxLength:"64"`
	Compatibility         Compatibility   `json:"compatibility"`
	Detail                *string         `json:"detail" maxLength:"500" doc:"What changed, in a few words"`
	Line                  int             `json:"line" minimum:"0"`
	Takes                 [][]Param       `json:"takes,omitempty" maxItems:"50" doc:"As of a symbol, for what a package exports"`
	Fields                []ContractField `json:"fields,omitempty" maxItems:"200" doc:"Of a use: the fields or columns it may use, if that is known. Of a provider: those whose users fail, if all others go on to work"`
}

// A Reference is a new use of a symbol or contract.
type Reference struct {
	Key   string   `json:"key" minLength:"1" maxLength:"1024"`
	Line  int      `json:"line" minimum:"0"`
	Call  *Call    `json:"call,omitempty" doc:"How it is called there; null if it is used without a call, or how is not known"`
	In    []string `json:"in,omitempty" maxItems:"20" itemMaxLength:"200" doc:"Definitions of the file that have more uses of it than before, in whatever form; the empty name stands for none. Empty if the whole file has no more than before, or if that is not known"`
	Via   string   `json:"via,omitempty" maxLength:"1024" doc:"The file that it is imported from, if that only hands it on"`
	Typed bool     `json:"typed,omitempty" doc:"Its owner is known by the type of a value: the code need not name that one"`
	// Of an implementer and of a literal.
	Whole bool     `json:"whole,omitempty" doc:"It implements or makes one, so it must have all members that are needed"`
	Has   []string `json:"has,omitempty" maxItems:"200" itemMaxLength:"200" doc:"The members it has, by name"`
	Lacks []string `json:"lacks,omitempty" maxItems:"200" itemMaxLength:"200" doc:"It implemented one before, and no longer has these members as they were: nothing else about it is new"`
}

// ClearTexts removes the signature texts, keeping their hashes, and hides the
// names of parameters. It returns how many texts there were.
func (f *FileFacts) ClearTexts() (n int) {
	clear := func(texts ...**string) {
		for _, t := range texts {
			if *t != nil {
				*t = nil
				n++
			}
		}
	}
	f.Symbols, f.Contracts, f.References = slices.Clone(f.Symbols), slices.Clone(f.Contracts), slices.Clone(f.References)
	for i := range f.Symbols {
		clear(&f.Symbols[i].Signature, &f.Symbols[i].PreviousSignature)
		f.Symbols[i].Takes = HideParams(f.Symbols[i].Takes)
	}
	for i := range f.References {
		f.References[i].Call = f.References[i].Call.Hidden()
	}
	f.Lost = slices.Clone(f.Lost)
	for i := range f.Lost {
		f.Lost[i].Name, f.Lost[i].Now = "", ""
	}
	for i := range f.Contracts {
		clear(&f.Contracts[i].Signature, &f.Contracts[i].PreviousSignature)
		f.Contracts[i].Takes = HideParams(f.Contracts[i].Takes)
		f.Contracts[i].Fields = HideFields(f.Contracts[i].Fields)
	}
	return n
}
