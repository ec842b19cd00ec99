package presence

import (
	"os"
	"reflect"
	"strconv"

	"golang.org/x/sys/windows"
)

// look finds a process in a snapshot of all. What a shell runs it does not
// tell, so that every shell counts as one that somebody types into.
func look(pid int) (seen, error) {
	shot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return seen{}, err
	}
	defer windows.CloseHandle(shot)
	var e windows.ProcessEntry32
	e.Size = uint32(reflect.TypeOf(e).Size())
	for err = windows.Process32First(shot, &e); err == nil; err = windows.Process32Next(shot, &e) {
		if int(e.ProcessID) != pid {
			continue
		}
		start, err := startOf(e.ProcessID)
		return seen{name: windows.UTF16ToString(e.ExeFile[:]), parent: int(e.ParentProcessID), start: start}, err
	}
	if err == windows.ERROR_NO_MORE_FILES {
		err = os.ErrNotExist
	}
	return seen{}, err
}

func startOf(pid uint32) (string, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return "", err
	}
	defer windows.CloseHandle(h)
	var made, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &made, &ended, &kernel, &user); err != nil {
		return "", err
	}
	return strconv.FormatInt(made.Nanoseconds(), 36), nil
}
