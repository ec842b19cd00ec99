package top

import tea "charm.land/bubbletea/v2"

// A spot is the row that a line of the screen shows.
type spot struct {
	at  section
	row int
}

// click marks the row under the mouse; on the marked one it shows the details.
func (m *model) click(y int) tea.Cmd {
	_, spots := m.layout()
	p, ok := spots[y]
	if !ok {
		return nil
	}
	same := m.at == p.at && m.selected[p.at] == p.row
	m.at, m.selected[p.at] = p.at, p.row
	if same {
		return m.toggle()
	}
	return m.readThread()
}

// wheel moves the mark in the list under the mouse.
func (m *model) wheel(y int, button tea.MouseButton) tea.Cmd {
	if _, spots := m.layout(); len(spots) > 0 {
		if p, ok := spots[y]; ok {
			m.at = p.at
		}
	}
	switch button {
	case tea.MouseWheelUp:
		m.move("up")
	case tea.MouseWheelDown:
		m.move("down")
	}
	return m.readThread()
}
