package terminal

import (
	"strings"

	"github.com/rivo/uniseg"
)

// gap stands between columns.
const gap = "  "

// narrowest is how narrow the growing column may get; below that, lines are
// wider than the screen.
const narrowest = 12

// Cell is one field of a table.
type Cell struct {
	Text  string
	Style Style
}

// Table is aligned text in columns.
type Table struct {
	// Heads are the names of the columns.
	Heads []string
	// Grow is the index of the column that is cut when the screen is too
	// narrow.
	Grow int
	// Rows have a cell for each column, on one line each.
	Rows [][]Cell
}

// Add appends a row.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Render is the table for a screen, one line a row. A column that is empty in
// all rows is left out.
func (t *Table) Render(s Screen) string {
	rows := make([][]Cell, 0, len(t.Rows)+1)
	heads := make([]Cell, len(t.Heads))
	for i, head := range t.Heads {
		heads[i] = Cell{head, Dim}
	}
	rows = append(rows, heads)
	for _, row := range t.Rows {
		line := make([]Cell, len(row))
		for i, cell := range row {
			line[i] = Cell{Line(cell.Text), cell.Style}
		}
		rows = append(rows, line)
	}
	widths := t.widths(rows, s.Width)
	var b strings.Builder
	for _, row := range rows {
		writeRow(&b, s, row, widths)
	}
	return b.String()
}

// widths of the columns; 0 for one that is left out.
func (t *Table) widths(rows [][]Cell, screen int) []int {
	widths := make([]int, len(t.Heads))
	for _, row := range rows[1:] {
		for i, cell := range row {
			widths[i] = max(widths[i], Width(cell.Text))
		}
	}
	total := -len(gap)
	for i := range widths {
		if widths[i] > 0 {
			widths[i] = max(widths[i], Width(t.Heads[i]))
			total += widths[i] + len(gap)
		}
	}
	if over := total - screen; screen > 0 && over > 0 && widths[t.Grow] > narrowest {
		widths[t.Grow] = max(widths[t.Grow]-over, narrowest)
	}
	return widths
}

// writeRow writes one line, without blanks at its end.
func writeRow(b *strings.Builder, s Screen, row []Cell, widths []int) {
	owed := ""
	first := true
	for i, cell := range row {
		if widths[i] == 0 {
			continue
		}
		if !first {
			owed += gap
		}
		first = false
		text := Cut(cell.Text, widths[i], s)
		if text != "" {
			b.WriteString(owed)
			b.WriteString(s.Paint(cell.Style, text))
			owed = ""
		}
		owed += strings.Repeat(" ", max(0, widths[i]-Width(text)))
	}
	b.WriteByte('\n')
}

// Width is how many columns text takes on a screen.
func Width(text string) int { return uniseg.StringWidth(text) }

// Cut is text in at most width columns; what is cut off leaves a mark. What a
// person sees as one character is never split.
func Cut(text string, width int, s Screen) string {
	if Width(text) <= width {
		return text
	}
	mark := "..."
	if s.Symbols {
		mark = "…"
	}
	room := width - Width(mark)
	if room < 0 {
		return strings.Repeat(".", max(0, width))
	}
	var b strings.Builder
	rest, state := text, -1
	for rest != "" {
		var cluster string
		var wide int
		cluster, rest, wide, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if wide > room {
			break
		}
		room -= wide
		b.WriteString(cluster)
	}
	return b.String() + mark
}
