package presence

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
)

// here names this machine's table of processes.
func here() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return name + " " + space
}

// look reads a process from /proc.
func look(pid int) (seen, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	data, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return seen{}, err
	}
	from, to := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')') // a name may hold both
	if from < 0 || to < from {
		return seen{}, errors.New("/proc has another form")
	}
	fields := strings.Fields(string(data[to+1:]))
	const parent, start = 1, 19 // of what follows the name
	if len(fields) <= start {
		return seen{}, errors.New("/proc has another form")
	}
	if fields[0] == "Z" || fields[0] == "X" { // it is over, and nobody asked how it ended
		return seen{}, os.ErrNotExist
	}
	p := seen{name: string(data[from+1 : to]), start: fields[start]}
	p.parent, _ = strconv.Atoi(fields[parent])
	if shells.Has(p.name) {
		line, _ := os.ReadFile(dir + "/cmdline")
		p.command = runsCommand(strings.Split(string(line), "\x00"))
	}
	return p, nil
}
