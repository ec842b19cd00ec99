package live

import "time"

// A Size is how much the indexes of all orgs hold, and how long ago the oldest of
// them was compared with the log.
type Size struct {
	Orgs, Workers, Changes int
	Age                    time.Duration
}

// Size measures the indexes. One that is being brought up to date is measured
// when that is done.
func (s *Set) Size() (out Size) {
	s.mu.Lock()
	all := make([]*org, 0, len(s.orgs))
	for _, o := range s.orgs {
		all = append(all, o)
	}
	s.mu.Unlock()
	now := time.Now().UnixMilli()
	for _, o := range all {
		o.mu.RLock()
		if o.ix != nil {
			workers, changes := o.ix.Size()
			out.Orgs, out.Workers, out.Changes = out.Orgs+1, out.Workers+workers, out.Changes+changes
			out.Age = max(out.Age, time.Duration(now-o.checked.Load())*time.Millisecond)
		}
		o.mu.RUnlock()
	}
	return out
}
