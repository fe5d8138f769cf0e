// Package metamorphic holds tests alone: random plans over random data, whose result must not depend
// on anything but the plan and the data. Parallelism, slots, split and batch size, memory so small that
// operators spill, the file format and the encoding of messages may change nothing.
package metamorphic
