package plans

import "strings"

// Node finds a node by name, nil where there is none.
func (p *Plan) Node(name string) *Node {
	for i := range p.Nodes {
		if p.Nodes[i].Name == name {
			return &p.Nodes[i]
		}
	}
	return nil
}

// Faulty are the nodes that errors among the findings are about, so that what follows from them is not
// known. A source counts only where its columns are at fault.
func (p *Plan) Faulty(found Findings) map[string]bool {
	faulty := map[string]bool{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		path := n.Pos.Path
		for _, f := range found {
			rest, under := strings.CutPrefix(f.Path, path+".")
			switch {
			case f.Severity != SeverityError || !under && f.Path != path:
			case n.Source == nil || strings.Contains("."+rest+".", ".columns."):
				faulty[n.Name] = true
			}
		}
	}
	return faulty
}
