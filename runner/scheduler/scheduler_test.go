package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// TestScripts runs the scripts of testdata. `graph` makes a job graph of lines
//
//	option NAME = VALUE [(SOURCE)]
//	vertex ID [node=N] [fixed=REASON] [group=NAME] [default=N (SOURCE)]
//	file VERTEX BYTES [units=N] [unsplittable[=WHY]]
//	edge FROM TO EXCHANGE [pipelined]
//
// and the other commands ask about it.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{t: t}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t = t
			return s.run(d)
		})
	})
}

type script struct {
	t      *testing.T
	g      *jobgraph.Graph
	pool   *Pool
	splits *Splits
}

func (s *script) run(d *datadriven.TestData) string {
	switch d.Cmd {
	case "graph":
		return s.graph(d.Input)
	case "source":
		return s.source(d)
	case "downstream":
		return s.downstream(d)
	case "pack":
		return s.pack(d)
	case "explain":
		return s.explain()
	case "stages":
		return s.stages()
	case "place", "free", "add", "lose", "give-back":
		return s.slots(d)
	case "splits", "request", "share", "finish", "return", "limit", "unread":
		return s.assign(d)
	case "failover":
		return s.failover(d)
	}
	s.t.Fatalf("unknown command %q", d.Cmd)
	return ""
}

func (s *script) atoi(text string) int {
	s.t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// words cuts a line into plain words and key=value pairs.
func words(line string) (plain []string, pairs map[string]string) {
	pairs = map[string]string{}
	for _, w := range strings.Fields(line) {
		if k, v, ok := strings.Cut(w, "="); ok && k != "" {
			pairs[k] = v
			continue
		}
		plain = append(plain, w)
	}
	return plain, pairs
}

func (s *script) graph(text string) string {
	s.g = &jobgraph.Graph{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		plain, pairs := words(line)
		switch plain[0] {
		case "mode":
			s.g.Mode = plain[1]
		case "option":
			source := "plan"
			if len(plain) > 3 && strings.HasPrefix(plain[len(plain)-1], "(") {
				source = strings.Trim(plain[len(plain)-1], "()")
				plain = plain[:len(plain)-1]
			}
			s.g.Options = append(s.g.Options, jobgraph.Option{Name: plain[1], Value: strings.Join(plain[3:], " "), Source: source})
		case "vertex":
			v := jobgraph.Vertex{ID: plain[1], Name: strings.ToUpper(plain[1]), SharingGroup: "default"}
			if n := pairs["node"]; n != "" {
				v.Parallelism = jobgraph.Request{Value: s.atoi(n), Origin: "node"}
			}
			v.Parallelism.Fixed = pairs["fixed"]
			if g := pairs["group"]; g != "" {
				v.SharingGroup = g
			}
			v.Operators = []jobgraph.Operator{{Kind: jobgraph.TransformOp}}
			s.g.Vertices = append(s.g.Vertices, v)
		case "file":
			op := &s.g.Vertex(plain[1]).Operators[0]
			if op.Source == nil {
				op.Kind, op.Source = jobgraph.SourceOp, &jobgraph.Source{}
			}
			_, un := pairs["unsplittable"]
			f := connectors.File{Path: fmt.Sprint(len(op.Source.Inv.Files)), Bytes: int64(s.atoi(plain[2])), Splittable: !un, Why: pairs["unsplittable"]}
			if u := pairs["units"]; u != "" {
				f.Units = s.atoi(u)
			}
			op.Source.Inv.Files = append(op.Source.Inv.Files, f)
		case "edge":
			s.g.Edges = append(s.g.Edges, jobgraph.Edge{
				ID: plain[1] + "-" + plain[2], From: plain[1], To: plain[2], Exchange: jobgraph.ExchangeKind(plain[3]),
				Blocking: !slices.Contains(plain, "pipelined"),
			})
		default:
			s.t.Fatalf("unknown line %q", line)
		}
	}
	return "ok\n"
}

func show(d Decision) string {
	var numbers []string
	for _, k := range slices.Sorted(maps.Keys(d.Numbers)) {
		numbers = append(numbers, fmt.Sprintf("%s=%d", k, d.Numbers[k]))
	}
	n := fmt.Sprint(d.Decided)
	if d.Decided == 0 {
		n = fmt.Sprintf("%d to %d", d.Min, d.Max)
	}
	out := fmt.Sprintf("%s: %s of max %d, requested %d (%s), %s\n  %s\n", d.Vertex, n, d.Max, d.Requested, d.Origin, d.Reason, d.Text)
	if len(numbers) > 0 {
		out += "  " + strings.Join(numbers, " ") + "\n"
	}
	return out
}

func (s *script) decider() (*Decider, error) { return NewDecider(s.g) }

func (s *script) source(d *datadriven.TestData) string {
	x, err := s.decider()
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	v := s.g.Vertex(d.CmdArgs[0].Key)
	splits := x.estimatedSplits(v)
	if d.HasArg("splits") {
		d.ScanArgs(s.t, "splits", &splits)
	}
	return show(x.Source(v, splits))
}

func numbers(s *script, text string) []int64 {
	var v []int64
	for _, f := range strings.Fields(text) {
		v = append(v, int64(s.atoi(f)))
	}
	return v
}

// downstream takes a line per edge: FROM producers=N volumes…
func (s *script) downstream(d *datadriven.TestData) string {
	x, err := s.decider()
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	v := s.g.Vertex(d.CmdArgs[0].Key)
	var inputs []Input
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		plain, pairs := words(line)
		for _, e := range s.g.In(v.ID) {
			if e.From == plain[0] {
				inputs = append(inputs, Input{Edge: e, Producers: s.atoi(pairs["producers"]), Volumes: numbers(s, strings.Join(plain[1:], " "))})
			}
		}
	}
	got, readings := x.Downstream(v, inputs)
	out := show(got)
	for i, r := range readings {
		out += "  " + inputs[i].Edge.From + ":"
		for k := range got.Decided {
			lo, hi := r.From(k, inputs[i].Producers)
			out += fmt.Sprintf(" %d..%d of producers %d..%d,", r.Range(k).Lo, r.Range(k).Hi, lo, hi)
		}
		out = strings.TrimSuffix(out, ",") + "\n"
	}
	return out
}

func (s *script) pack(d *datadriven.TestData) string {
	var limit int64
	least, most := 1, 0
	d.ScanArgs(s.t, "limit", &limit)
	d.MaybeScanArgs(s.t, "min", &least)
	d.MaybeScanArgs(s.t, "max", &most)
	volumes := numbers(s, d.Input)
	var out []string
	for _, r := range Pack(volumes, limit, least, most) {
		sum := int64(0)
		for _, v := range volumes[r.Lo:r.Hi] {
			sum += v
		}
		out = append(out, fmt.Sprintf("%d..%d (%d)", r.Lo, r.Hi, sum))
	}
	return fmt.Sprintf("%d: %s\n", len(out), strings.Join(out, " "))
}

func (s *script) explain() string {
	all, err := Explain(s.g)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var out strings.Builder
	for _, d := range all {
		out.WriteString(show(d))
	}
	return out.String()
}

func (s *script) stages() string {
	if err := CheckStages(s.g); err != nil {
		return "error: " + err.Error() + "\n"
	}
	var out strings.Builder
	stages, _ := Stages(s.g)
	for _, st := range stages {
		var names []string
		for _, v := range st.Vertices {
			names = append(names, s.g.Vertices[v].ID)
		}
		fmt.Fprintf(&out, "%s depth %d pointwise %v\n", strings.Join(names, " "), st.Depth, st.Pointwise)
	}
	return out.String()
}

func (s *script) member(text string) Member {
	id, n, _ := strings.Cut(text, "/")
	for i := range s.g.Vertices {
		if s.g.Vertices[i].ID == id {
			return Member{i, s.atoi(n)}
		}
	}
	s.t.Fatalf("no vertex %q", id)
	return Member{}
}

func slotID(s *script, text string) rpc.SlotID {
	tm, n, _ := strings.Cut(text, "/")
	return rpc.SlotID{TaskManager: tm, Index: s.atoi(n)}
}

func slotNames(ids []rpc.SlotID) string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf("%s/%d", id.TaskManager, id.Index))
	}
	return strings.Join(out, " ")
}

func (s *script) slots(d *datadriven.TestData) string {
	if s.pool == nil {
		s.pool = NewPool(s.g)
	}
	out := ""
	switch d.Cmd {
	case "add":
		for _, a := range d.CmdArgs {
			s.pool.Add([]rpc.SlotID{slotID(s, a.Key)})
		}
	case "place":
		var members []Member
		for _, a := range d.CmdArgs {
			members = append(members, s.member(a.Key))
		}
		ids, ok := s.pool.Place(members)
		if out = slotNames(ids) + "; "; !ok {
			out = "no room; "
		}
	case "free":
		s.pool.Free(slotID(s, d.CmdArgs[0].Key), s.member(d.CmdArgs[1].Key))
	case "lose":
		s.pool.RemoveManager(d.CmdArgs[0].Key)
	case "give-back":
		out = slotNames(s.pool.TakeIdle(s.atoi(d.CmdArgs[0].Key))) + "; "
	}
	return fmt.Sprintf("%s%d held, %d idle\n", out, s.pool.Held(), s.pool.Idle())
}

func order(s *script, text string) *[2]int64 {
	if text == "none" {
		return nil
	}
	f, o, _ := strings.Cut(text, ":")
	return &[2]int64{int64(s.atoi(f)), int64(s.atoi(o))}
}

// assign: a split is FILE:OFFSET, and that is its id too.
func (s *script) assign(d *datadriven.TestData) string {
	out := ""
	arg := func(i int) string { return d.CmdArgs[i].Key }
	switch d.Cmd {
	case "splits":
		s.splits = NewSplits(100)
		for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
			plain, pairs := words(line)
			bytes := 60
			if b := pairs["bytes"]; b != "" {
				bytes = s.atoi(b)
			}
			s.splits.Add([]connectors.Split{{ID: plain[0], Order: *order(s, plain[0]), Bytes: int64(bytes)}})
		}
		s.splits.Close()
	case "share":
		for _, f := range s.splits.Share(s.atoi(arg(0)), s.atoi(arg(1))) {
			out += f.ID + " "
		}
	case "request":
		var done []string
		for _, a := range d.CmdArgs[2:] {
			done = append(done, a.Key)
		}
		give, noMore := s.splits.Request(s.atoi(arg(0)), s.atoi(arg(1)), done)
		for _, g := range give {
			out += g.ID + " "
		}
		if noMore {
			out += "no more "
		}
	case "finish":
		s.splits.Finish(s.atoi(arg(0)))
	case "return":
		s.splits.Return(s.atoi(arg(0)))
	case "limit":
		s.splits.Limit(order(s, arg(0)))
	case "unread":
		out = fmt.Sprint(s.splits.Unread(s.atoi(arg(0)), order(s, arg(1)))) + " "
	}
	return fmt.Sprintf("%s(%d of %d read)\n", out, s.splits.Read(), s.splits.Total())
}

// failover takes lines `parallelism V=N …`, `pending V/I …`, `gone V/I …` and prints what restarts.
func (s *script) failover(d *datadriven.TestData) string {
	w := &fakeWorld{s: s, p: map[int]int{}, pending: map[Member]bool{}, gone: map[Member]bool{}}
	w.stages, w.of = Stages(s.g)
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		plain, pairs := words(line)
		for id, n := range pairs {
			w.p[s.member(id+"/0").Vertex] = s.atoi(n)
		}
		for _, m := range plain[1:] {
			map[string]map[Member]bool{"pending": w.pending, "gone": w.gone}[plain[0]][s.member(m)] = true
		}
	}
	var failed []Region
	for _, a := range d.CmdArgs {
		m := s.member(a.Key)
		failed = append(failed, Region{w.of[m.Vertex], w.stages[w.of[m.Vertex]].RegionOf(m)})
	}
	var out []string
	for _, r := range Failover(s.g, w.stages, w.of, w, failed) {
		for _, m := range w.Members(r) {
			out = append(out, fmt.Sprintf("%s/%d", s.g.Vertices[m.Vertex].ID, m.Subtask))
		}
	}
	return strings.Join(out, " ") + "\n"
}

type fakeWorld struct {
	s             *script
	stages        []Stage
	of            []int
	p             map[int]int
	pending, gone map[Member]bool
}

func (w *fakeWorld) all(stage int) [][]Member {
	if w.p[w.stages[stage].Vertices[0]] == 0 {
		return nil
	}
	return w.stages[stage].Regions(func(v int) int { return w.p[v] })
}

func (w *fakeWorld) Regions(stage int) int     { return len(w.all(stage)) }
func (w *fakeWorld) Members(r Region) []Member { return w.all(r.Stage)[r.Index] }
func (w *fakeWorld) Started(r Region) bool     { return !w.pending[w.Members(r)[0]] }
func (w *fakeWorld) Available(edge, i int) bool {
	return !w.gone[w.s.member(fmt.Sprintf("%s/%d", w.s.g.Edges[edge].From, i))]
}
