package scheduler

// A Range is a range of subpartitions, Hi exclusive.
type Range struct {
	Lo int `json:"lo"`
	Hi int `json:"hi"`
}

// Pack merges neighbouring subpartitions greedily while their sum is at most limit, as Flink does: each
// range is what one subtask reads. At least least ranges come out where there are as many subpartitions,
// by the largest smaller limit that gives them; at most `most` ranges come out.
func Pack(volumes []int64, limit int64, least, most int) []Range {
	if len(volumes) == 0 {
		return []Range{{}}
	}
	least = min(least, len(volumes))
	if most > 0 {
		least = min(least, most)
	}
	ranges := packed(volumes, limit)
	if len(ranges) < least {
		if ranges = packed(volumes, limitFor(volumes, limit, least)); len(ranges) < least {
			ranges = Even(len(volumes), least) // empty subpartitions: no limit tells them apart
		}
	}
	if most > 0 && len(ranges) > most {
		return Even(len(volumes), most)
	}
	return ranges
}

func packed(volumes []int64, limit int64) []Range {
	var ranges []Range
	lo, sum := 0, int64(0)
	for i, v := range volumes {
		if i > lo && sum+v > limit {
			ranges = append(ranges, Range{lo, i})
			lo, sum = i, 0
		}
		sum += v
	}
	return append(ranges, Range{lo, len(volumes)})
}

// limitFor finds the largest limit from 0 to below that packs into at least least ranges, 0 where none
// does. The number of ranges never rises with the limit, so halving finds it.
func limitFor(volumes []int64, below int64, least int) int64 {
	lo, hi := int64(0), below // hi gives too few
	for lo+1 < hi {
		mid := lo + (hi-lo)/2
		if len(packed(volumes, mid)) >= least {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// Even divides subpartitions by number into p ranges; where there are fewer than p, some are empty.
func Even(subpartitions, p int) []Range {
	ranges := make([]Range, p)
	for i := range ranges {
		ranges[i] = Range{i * subpartitions / p, (i + 1) * subpartitions / p}
	}
	return ranges
}
