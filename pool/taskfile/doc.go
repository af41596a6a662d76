// Package taskfile reads and writes the one file that llm-chat-task keeps a pool
// in:
//
//	{
//	  "tasks": [
//	    {
//	      "id": "1b4e28ba-2fa1-4d2a-883f-b9a761bde3fb",
//	      "title": "Write the parser",
//	      "priority": "high",
//	      "history": "[2026-01-02T03:04:05.678Z] begun\n[2026-01-02T04:00:00.000Z] done",
//	      "status": "done",
//	      "dependencyIds": []
//	    }
//	  ]
//	}
//
// Everything here is pure: bytes in, values or problems out. Nothing is looked
// up, nothing has a clock.
//
// # What a file says
//
// The fields are id, title, description, acceptanceCriteria, priority, type,
// links, steps, constraints, outOfScope, verification, context, edgeCases,
// history, status and dependencyIds. The id, a UUID, title and status must be
// there. What is left out is none; what is there says something: an empty text
// is refused, an empty list is none. Any other field, and one that comes twice,
// is refused by name, so that nothing is lost in silence. Texts are trimmed and
// held to the pool's limits as everywhere, counted in code points; the length of
// the history is not, as the cap is on appending: a longer log takes no more.
//
// Ids in dependencyIds that no task of the file has are left out and told.
//
// # History
//
// The history is lines. One that begins "[" instant "] ", with the instant in ISO
// 8601 with seconds and a zone, begins an entry; lines that don't go on with the
// entry before. Text before the first such line is an entry of the same time, or
// of none where no line has one. An entry that says nothing, which llm-chat-task
// takes and a pool does not, is left out.
//
// Written, an entry is always one line, that of
// [github.com/taskpool-dev/taskpool/pool/task.HistoryLine]: in its text \n, \r,
// \v, \f, \u0085, \u2028 and \u2029 stand for line breaks and \\ for a backslash,
// so no entry can pass itself off as two. Read, these are what they stand for,
// in an entry that could have been written so: one line, every backslash of
// which begins one of the eight. In any other a backslash is a backslash. So a
// file without backslashes in its histories, and one written here, mean what
// they meant to whoever wrote them. An entry of llm-chat-task's own such as
// "moved to src\new" is read as one with a line break; it is shown and written
// as it was.
package taskfile
