package sqlite

import (
	"database/sql"
	"fmt"

	"github.com/taskpool-dev/taskpool/pool/store"
)

const writeMetaRow = "INSERT OR REPLACE INTO meta (id, folded, sum) VALUES (1, ?, ?)"

func writeMeta(w *writer, folded int64) error {
	_, err := w.exec(writeMetaRow, folded, int64(store.Checksum(integers(folded))))
	return err
}

func readMeta(w *writer) (folded int64, err error) {
	found := false
	err = w.query(func(rows *sql.Rows) error {
		var sum int64
		if err := rows.Scan(&folded, &sum); err != nil {
			return err
		}
		found = sum == int64(store.Checksum(integers(folded)))
		return nil
	}, "SELECT folded, sum FROM meta WHERE id = 1")
	if err == nil && !found {
		err = fmt.Errorf("%w: the row of meta; restore a backup", store.ErrCorrupt)
	}
	return folded, err
}
