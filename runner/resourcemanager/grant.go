package resourcemanager

import "github.com/seed-4b0e9f7c/runner/runner/rpc"

// grant hands free slots out until none is free or no job needs one.
func (r *ResourceManager) grant() {
	if r.free == 0 || r.neediest() == nil {
		return
	}
	granted := map[*claim][]rpc.SlotID{}
	for _, t := range r.managers {
		for i, owner := range t.slots {
			if owner != nil {
				continue
			}
			c := r.neediest()
			if c == nil {
				break
			}
			t.slots[i] = c
			c.held++
			r.free--
			granted[c] = append(granted[c], rpc.SlotID{TaskManager: t.id, Index: i})
		}
	}
	total := r.Total()
	for _, c := range r.jobs {
		if slots := granted[c]; slots != nil {
			r.send(rpc.JobMaster(c.job), rpc.SlotsGranted{Job: c.job, Slots: slots, Total: total})
		}
	}
}

// neediest is the job with the fewest slots among those that lack some, the earlier one first.
func (r *ResourceManager) neediest() *claim {
	var best *claim
	for _, c := range r.jobs {
		if c.held < c.needed && (best == nil || c.held < best.held) {
			best = c
		}
	}
	return best
}

// want tells the jobs that hold more than their fair share or their need about it while others wait, and takes
// it back afterwards: until then they must not take up what they gave.
func (r *ResourceManager) want() {
	share := 0
	if r.neediest() != nil {
		share = r.fairShare()
	}
	for _, c := range r.jobs {
		told := 0
		if share > 0 && (c.share > 0 || c.held > min(share, c.needed)) {
			told = share
		}
		if told != c.share {
			c.share = told
			r.send(rpc.JobMaster(c.job), rpc.SlotsWanted{Job: c.job, Share: told})
		}
	}
}

// fairShare is the level up to which every job can be filled: what jobs do not need is divided among
// the others. It is at least 1, so that every job that has a slot can end.
func (r *ResourceManager) fairShare() int {
	left, waiting := r.Total(), len(r.jobs)
	counted := make(map[*claim]bool, len(r.jobs))
	for waiting > 0 {
		level, changed := left/waiting, false
		for _, c := range r.jobs {
			if !counted[c] && c.needed <= level {
				counted[c], changed = true, true
				left -= c.needed
				waiting--
			}
		}
		if !changed {
			return max(level, 1)
		}
	}
	return max(r.Total(), 1)
}
