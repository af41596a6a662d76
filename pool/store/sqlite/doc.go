// Package sqlite is the engine that keeps its logs in one SQLite file.
//
// # What lies where
//
// journal has one row per log and append; an append to one log is one INSERT
// in autocommit, and nothing else is paid for. There is no index on it: which
// rows are whose is kept in memory, and written down beside the journal by
// folding (spans), so that opening reads neither the journal nor anything per
// log.
//
// state is what the records of all logs had become at journal row meta.folded.
// Folding brings it on, in pieces of at most 200 rows a transaction: when the
// store idles, when it lags, before Trim, and at Close. Load is state with the
// journal after it.
//
// # What a crash may do
//
// The last fact of a key wins, so a row may be folded any number of times.
// meta.folded moves in the last transaction of a round of folding; until then
// all of the round is in the journal still, and both Load and the next round
// put it on top of whatever part of it state already holds. That also holds
// for a commit that resets its log: Load passes over all state rows of a log
// that is reset after meta.folded.
//
// # What a damaged disk may do
//
// Every row has a checksum over all its columns. A row that fails is moved to
// damaged and told by Load. A row that has vanished shows as a gap between
// revisions, or in the number of records that logs tells. The one gap that is
// none, before a commit that jumps, is written to logs with it (whole).
//
// # Who may do what
//
// One process: a flock on taskpool.lock keeps others out. Within it, whoever
// writes holds the turn (Store.turn), which goes round in the order of asking,
// so that an append waits for at most one piece of folding. Reads have
// connections of their own and go on when the disk is full.
package sqlite
