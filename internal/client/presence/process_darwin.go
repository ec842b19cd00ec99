package presence

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// look asks the kernel for a process.
func look(pid int) (seen, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || err == nil && int(info.Proc.P_pid) != pid { // how it says that there is none
		return seen{}, os.ErrNotExist
	}
	if err != nil {
		return seen{}, err
	}
	const zombie = 5
	if info.Proc.P_stat == zombie {
		return seen{}, os.ErrNotExist
	}
	at := info.Proc.P_starttime
	p := seen{
		name:   unix.ByteSliceToString(info.Proc.P_comm[:]),
		parent: int(info.Eproc.Ppid),
		start:  strconv.FormatInt(int64(at.Sec), 10) + "." + strconv.FormatInt(int64(at.Usec), 10),
	}
	if shells.Has(strings.TrimPrefix(p.name, "-")) {
		// The number of arguments, the program, and then the arguments.
		if data, err := unix.SysctlRaw("kern.procargs2", pid); err == nil && len(data) > 4 {
			_, args, _ := strings.Cut(string(data[4:]), "\x00")
			p.command = runsCommand(strings.Split(strings.TrimLeft(args, "\x00"), "\x00"))
		}
	}
	return p, nil
}
