package failure

// A Class names one kind of failure of our own. The list is closed and its names are stable: reports,
// rules and people's searches rest on them. A failure of Flink carries its Java class name instead.
type Class string

// The classes. What each means, its category and what to do next stand in [Classes].
const (
	CastError           Class = "CastError"
	CsvFormatError      Class = "CsvFormatError"
	JSONFormatError     Class = "JsonFormatError"
	SchemaMismatch      Class = "SchemaMismatch"
	NullViolation       Class = "NullViolation"
	Overflow            Class = "Overflow"
	DivisionByZero      Class = "DivisionByZero"
	EvaluationError     Class = "EvaluationError"
	TooManyRejects      Class = "TooManyRejects"
	DamagedFile         Class = "DamagedFile"
	MissingFile         Class = "MissingFile"
	PermissionDenied    Class = "PermissionDenied"
	TargetExists        Class = "TargetExists"
	InvalidPlan         Class = "InvalidPlan"
	InvalidOption       Class = "InvalidOption"
	NotSupported        Class = "NotSupported"
	NoSlots             Class = "NoSlots"
	OutOfManagedMemory  Class = "OutOfManagedMemory"
	OutOfMemory         Class = "OutOfMemory"
	TaskManagerLost     Class = "TaskManagerLost"
	PartitionLost       Class = "PartitionLost"
	ConnectionError     Class = "ConnectionError"
	CheckpointError     Class = "CheckpointError"
	SinkError           Class = "SinkError"
	DiskFull            Class = "DiskFull"
	Cancelled           Class = "Cancelled"
	CancellationTimeout Class = "CancellationTimeout"
	UnbalancedBooks     Class = "UnbalancedBooks"
	Internal            Class = "Internal"
)

// The categories, from the root cause: who has to act, and on what.
const (
	CategoryData           = "user-code/data"
	CategoryConfig         = "config"
	CategoryResources      = "resources"
	CategoryConnectivity   = "connectivity"
	CategoryState          = "state/checkpoint"
	CategoryClasspath      = "classpath"
	CategoryMemory         = "memory"
	CategorySQL            = "sql"
	CategoryInfrastructure = "infrastructure"
)

// A ClassDoc documents one [Class].
type ClassDoc struct {
	Class    Class
	Category string
	Means    string // one sentence: what happened
	Next     string // one sentence: what to do
}

// Classes lists every class of ours with its documentation, in the order of the constants.
func Classes() []ClassDoc {
	return append(append(dataClasses(), setupClasses()...), processClasses()...)
}

// dataClasses are about values and files.
func dataClasses() []ClassDoc {
	return []ClassDoc{
		{
			CastError, CategoryData, "A value could not be converted to the type the plan asks for.",
			"Correct the value at the place named, give the column the type its values have, or use TRY_CAST, which gives NULL instead of failing.",
		},
		{
			CsvFormatError, CategoryData, "A line of a CSV file breaks the format: a quote never closed, too many or too few fields.",
			"Correct the line named, check delimiter and quote of the source, or let the source skip such rows with on_error: skip.",
		},
		{
			JSONFormatError, CategoryData, "A line of a JSON file is not valid JSON or not an object.",
			"Correct the line named, or let the source skip such rows with on_error: skip.",
		},
		{
			SchemaMismatch, CategoryData, "A file does not have the columns or the types the plan declares.",
			"Compare the source's columns with what `runner inspect FILE` prints and correct the plan or the file.",
		},
		{
			NullViolation, CategoryData, "A NULL stands in a column declared NOT NULL.",
			"Correct the row named, drop NOT NULL from the column, or filter such rows out before they reach it.",
		},
		{
			Overflow, CategoryData, "A number does not fit its type.",
			"Give the expression a wider type (BIGINT, or DECIMAL with more digits), or filter the rows that exceed it.",
		},
		{
			DivisionByZero, CategoryData, "A division or modulo has a zero divisor.",
			"Guard the divisor, as in x / NULLIF(y, 0), or filter the rows where it is zero.",
		},
		{
			EvaluationError, CategoryData, "An expression could not be computed for a row.",
			"Look at the expression and the value named; guard it with CASE, or filter the row out before it.",
		},
		{
			TooManyRejects, CategoryData, "A source skipped more rows than its on_error allows.",
			"Look at the rejected rows; correct the file, or raise max_rows or max_share of the source's on_error.",
		},
		{
			DamagedFile, CategoryData, "A file cannot be read to its end: cut off, wrong checksum, not the format its name says.",
			"Fetch or write the file again; `runner doctor FILE` says which part is damaged.",
		},
	}
}

// setupClasses are about the plan, its options and what it names.
func setupClasses() []ClassDoc {
	return []ClassDoc{
		{
			MissingFile, CategoryConfig, "A file or folder the plan names does not exist.",
			"Correct the path in the plan (it is relative to the plan file), or put the file there.",
		},
		{
			PermissionDenied, CategoryConfig, "The process may not read or write a file or folder.",
			"Give the user that runs the job the right to it, or choose another path.",
		},
		{
			TargetExists, CategoryConfig, "The sink's target is there already and its mode is error.",
			"Remove the target, choose another path, or set mode: overwrite or append on the sink.",
		},
		{
			InvalidPlan, CategoryConfig, "The plan cannot be run as it is written.",
			"Correct the plan at the line named; `runner validate` shows every finding at once.",
		},
		{
			InvalidOption, CategoryConfig, "An option has a value that cannot be used.",
			"Correct the option named; `runner docs` shows type and default of each.",
		},
		{
			NotSupported, CategoryConfig, "The plan asks for something this build does not offer.",
			"Leave it out or take the way the message names.",
		},
	}
}

// processClasses are about what runs the job.
func processClasses() []ClassDoc {
	return []ClassDoc{
		{
			NoSlots, CategoryResources, "Fewer task slots are free than the job needs.",
			"Lower parallelism.default, raise taskmanager.numberOfTaskSlots, or start another TaskManager.",
		},
		{
			OutOfManagedMemory, CategoryMemory, "An operator that cannot spill further needs more managed memory than its slot has.",
			"Raise taskmanager.memory.managed.size or lower taskmanager.numberOfTaskSlots so that each slot gets more.",
		},
		{
			OutOfMemory, CategoryMemory, "The process ran into its memory limit.",
			"Raise taskmanager.memory.process.size, or lower the number of slots or the batch size.",
		},
		{
			TaskManagerLost, CategoryConnectivity, "A TaskManager stopped answering while it ran tasks of the job.",
			"Look at that TaskManager's log and its host: was it killed, out of memory or cut off? Then run the job again.",
		},
		{
			PartitionLost, CategoryConnectivity, "A result partition is gone because its producer's TaskManager is.",
			"Look for the TaskManager that was lost just before; this failure is its echo.",
		},
		{
			ConnectionError, CategoryConnectivity, "A connection was refused, broken or timed out.",
			"Check that the address named is right, that something listens there, and that nothing between blocks it.",
		},
		{
			CheckpointError, CategoryState, "A checkpoint or savepoint could not be written, completed or restored.",
			"Check the checkpoint folder and whether the plan still fits the state; the message names the operator.",
		},
		{
			SinkError, CategoryInfrastructure, "The sink could not write or publish its result.",
			"Look at the target named: is it there, writable and not used by another run? The earlier output is untouched.",
		},
		{
			DiskFull, CategoryInfrastructure, "A disk, a quota or a file size limit is used up.",
			"Free space on the disk named, or move the output or io.tmp.dirs to a larger one.",
		},
		{
			Cancelled, CategoryInfrastructure, "The job was cancelled, by a person or because the process was told to stop.",
			"Nothing needs to be fixed; run the job again.",
		},
		{
			CancellationTimeout, CategoryInfrastructure, "A task did not end when it was cancelled, because it hangs in a call that cannot be broken off.",
			"Look at what it writes to or reads from: a pipe that nobody empties, a network file system that hangs; task.cancellation.timeout sets how long it is waited for.",
		},
		{
			UnbalancedBooks, CategoryInfrastructure, "The count of rows going in does not match what came out; the result is not to be trusted.",
			"Keep the run report and file it as a defect of runner; running again may help if hardware was at fault.",
		},
		{
			Internal, CategoryInfrastructure, "Something happened that runner did not expect.",
			"Keep the run report and file it as a defect of runner.",
		},
	}
}

// Doc returns the documentation of c, and false where c is not one of ours.
func (c Class) Doc() (ClassDoc, bool) {
	for _, d := range Classes() {
		if d.Class == c {
			return d, true
		}
	}
	return ClassDoc{}, false
}

// Category returns the category of c; a class that is not one of ours counts as infrastructure,
// because nothing says that data, plan or options are at fault.
func (c Class) Category() string {
	if d, ok := c.Doc(); ok {
		return d.Category
	}
	return CategoryInfrastructure
}
