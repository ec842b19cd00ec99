package engine

// A reason tells apart what one kind of conflict can rest on, so that words
// can say it.
type reason uint8

const (
	plainReason   reason = iota
	linesTouch           // overlapping or touching lines of one base
	linesMeet            // the same lines, counted in different versions
	modifyDelete         // one side deleted what the other changed
	renameDelete         // one side deleted what the other renamed
	twoRenames           // one file, two new names
	addAdd               // one new path, two contents
	addChange            // one side added what the other's base has already
	fileFolder           // a file here, a folder there
	binaryBoth           // a binary file changed by both
	sameCopy             // another session of the same working copy changed it
	otherBase            // both changed it, from different versions
	linesUnknown         // both changed it, one in more places than were told
	mergesCleanly        // both changed it, where git can merge
	claimsMeet           // at least one side has only claimed it
	breaksWork           // the dependent side is live work
	breaksCode           // the dependent side is code in a linked repo
	maybeWork            // the same, where the change may leave it working
	maybeCode
	likelyWork // the same, where the two routes differ by what stands before them
	likelyCode
	commonWork // the same, of a route that others have as well, where nothing else ties the two
	commonCode
	textWork // the same, where a text has the shape of the route
	textCode
	lostWork // the dependent side has a name that a file lost
	lostCode
	meantWork    // the dependent side newly uses what may mean something else now
	namedWork    // the dependent side mentions a name that only what changed goes by
	breaksScope  // the other side declared it, and that is all that is known
	maybeScope   // the same, where the change may leave it working
	likelyScope  // the same, of a route that differs by what stands before it
	commonScope  // the same, of a route that others have as well
	ticketReason // two intents name one ticket
	titleReason  // two intents say nearly the same
	numberTaken  // two new migrations have one number
	numberHeld   // a new migration has a number that was handed to somebody else
	resourceHeld // somebody else has a resource
)
