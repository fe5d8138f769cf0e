// Package sim runs the real Dispatcher, ResourceManager, JobMaster and scheduler under a fake clock, with a
// transport that delays and reorders (order holds within a pair of sender and receiver) and breaks
// connections, and with TaskManagers that fail tasks, hang, die, and send late and doubled updates. Rows
// really flow: each has an id, so that at the commit it can be seen that every one arrived exactly as often
// as the graph says. A run is a function of its seed. The package serves tests only.
package sim
