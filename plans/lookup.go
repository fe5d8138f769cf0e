package plans

// Node finds a node by name, nil where there is none.
func (p *Plan) Node(name string) *Node {
	for i := range p.Nodes {
		if p.Nodes[i].Name == name {
			return &p.Nodes[i]
		}
	}
	return nil
}
