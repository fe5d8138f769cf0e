package diagnose

// platformRules are about clusters, state and stores. They come first, because their messages have words
// that the more general rules would take for something else.
func platformRules() []adviceRule {
	return append(clusterRules(), storeRules()...)
}

func clusterRules() []adviceRule {
	return []adviceRule{
		{"", `exceeded quota`, "The namespace's quota is used up. Ask for less (memory, cpu and number of TaskManagers), end what is not needed, or have the quota raised."},
		{"FailedScheduling", "", "No node of the Kubernetes cluster has room for the pod. Ask for less memory or cpu (taskmanager.memory.process.size, kubernetes.taskmanager.cpu.amount), add nodes, or end what is not needed."},
		{"Evicted", `ephemeral-storage`, "The node ran out of disk and threw the pod out. Give the pod a limit for ephemeral-storage that fits, and put io.tmp.dirs on a volume of its own."},
		{"Evicted", "", "The node ran short of a resource and threw the pod out. Give the pod requests that fit what it uses, or move it to another node."},
		{"FailedMount FailedAttachVolume", `(configmap|secret) "([^"]+)" not found`, "The $1 $2 does not exist in the namespace. Create it, or correct its name in the deployment."},
		{"", `back-off (?:\S+ )?restarting failed`, "The container starts and ends again and again. Its own log says why: `kubectl logs POD --previous`, and run diagnose on that."},
		{"", `beyond the '?(?:physical|virtual)'? memory limit`, "The process used more memory than its container may. Raise taskmanager.memory.process.size, or leave more of it for native memory (taskmanager.memory.jvm-overhead.fraction)."},
		{"", `exit ?(?:code|status)(?: is)?:? ?137`, "The process was killed from outside, mostly for using more memory than it may. Raise taskmanager.memory.process.size or the memory of the container, and look into the system's log of that machine."},
		{"", `exit ?(?:code|status)(?: is)?:? ?143`, "The process was told to stop (SIGTERM): by YARN, Kubernetes or an operator. Look at who stopped it, for preemption or for a node that was taken away; then run the job again."},
		{"", `exit ?(?:code|status)(?: is)?:? ?239`, "The process ended itself after an error it could not handle. Look for the word FATAL at the end of its own log; that is the cause."},
		{"FlinkJobNotFoundException", "", "This cluster does not know the job: it ended and was forgotten, the id is wrong, or it runs on another cluster. List the jobs with `flink list -a` and check the address."},
		{"", `lost leadership|job leader .* lost|disconnect from jobmanager`, "The JobManager went away or lost contact with its high-availability service. Look at its log and its pod or host for a restart; the job goes on by itself once a leader is there."},
		{"ConnectionLossException SessionExpiredException", "", "ZooKeeper did not answer. Check high-availability.zookeeper.quorum, that the ensemble is up, and for long pauses of the JobManager."},
		{"NativeIoException LocalTransportException", "", "The connection between two TaskManagers broke. Look at the log and the host of the TaskManager named further up for a kill, a full memory or a network fault."},
		{"OutOfMemoryError", `native thread`, "The process may start no further thread. Raise the limit of processes (ulimit -u, pids limit of the container), or lower slots and parallelism."},
		{"IllegalConfigurationException", `exceed configured total|less than the (?:sum|configured)|is not in configured`, "The memory sizes in the configuration contradict each other. Set only taskmanager.memory.process.size (or jobmanager.memory.process.size), or enlarge it so that the parts named fit."},
		{"ModuleNotFoundError ImportError", `no module named '([^']+)'`, "The Python module $1 is not installed where the job runs. Add it to the requirements given with -pyreq (python.requirements), or install it on every machine."},
	}
}

func storeRules() []adviceRule {
	return []adviceRule{
		{"CommitFailedException", "", "Another writer changed the table at the same moment. Let only one job write to it, or let the job retry (commit.retry.num-retries of the table)."},
		{"", `cannot find checkpoint or savepoint|/chk-\d+/|savepoint.*does not exist`, "The checkpoint or savepoint named is not there. Correct the path, check that it was not removed as outdated, and start from one that exists."},
		{"", `purged required binary logs|no longer available on the server|could not find first log file`, "The database has thrown away the changes that the job wants to go on from. Start with a new snapshot (scan.startup.mode = 'initial', without the old state), and keep the binary logs longer than the longest stop."},
		{"OffsetOutOfRangeException NoOffsetForPartitionException", "", "Kafka no longer has the records the job wants to go on from. Start from another position (scan.startup.mode, auto.offset.reset), and keep the topic's records longer than the longest stop."},
		{"", `memory-backed state`, "The state is too large to be kept in the JobManager's memory. Set execution.checkpointing.dir (state.checkpoints.dir) to a folder that all machines see."},
		{"StateMigrationException", "", "A type in the job's state changed in a way that old state cannot be read with. Go back to the old type, or start without the state, or rewrite it with the State Processor API."},
		{"", `duplicate key|violates unique|unique constraint`, "A row with this key is there already. Declare the PRIMARY KEY on the sink's table so that rows are updated, or remove duplicates before the sink."},
		{"", `would be truncated|data too long|value too long`, "A text is longer than its column in the database. Widen the column, or cut the text before the sink."},
		{"", `unsupported options:\s+([\w.-]+)`, "The option $1 is not known here. Correct its name; the message lists those that are."},
		{"", `column '([^']+)' not found in any table; did you mean '([^']+)'`, "There is no column $1; perhaps $2 is meant. Correct the name in the statement; DESCRIBE shows the columns of a table."},
		{"", `column '([^']+)' not found in any table`, "There is no column $1. Correct its name in the statement; DESCRIBE shows the columns of a table."},
		{"", `column '([^']+)' is ambiguous`, "Several tables have a column $1. Put the table's name or alias in front of it."},
		{"", `object '([^']+)' not found`, "There is no table $1 in this catalog and database. Correct the name, create the table, or USE the database it is in; SHOW TABLES lists them."},
		{"", `no match found for function signature ([^(]+)`, "There is no function $1 for arguments of these types. Correct the name or cast the arguments; SHOW FUNCTIONS lists them."},
		{"", `column types of query result and sink`, "The query's columns do not fit those of the sink's table. Compare both schemas in the message and add, drop, reorder or CAST columns."},
		{"", `doesn't support consuming (?:update|delete)`, "The query changes rows it has given before, and the sink can only append. Use a sink that updates by a PRIMARY KEY (upsert-kafka, jdbc), or a window aggregation."},
		{"ResourceNotFoundException", `stream (\S+) under account`, "The stream $1 does not exist in this account and region. Create it, or correct its name and aws.region."},
		{"", `no queue '([^']+)'`, "The queue $1 does not exist on this broker. Declare it, or correct its name and virtual host."},
		{"", `bucket does not exist|NoSuchBucket`, "The bucket does not exist. Create it, or correct its name and region in the path."},
		{"", `index_not_found_exception`, "The index does not exist and may not be made automatically. Create it, or correct its name in the sink."},
		{"RestClientException", `(?:schema|subject) .*not found`, "The schema registry does not know this schema. Check its address and the subject, and that the producer registered its schema there."},
		{"", `(?:mapper|document)_parsing_exception|number_format_exception`, "The index expects another type for a field than the document has. Correct the value named in the message, or the mapping of the index."},
		{"ArithmeticException", `by zero`, "A number was divided by zero. Guard the divisor (x / NULLIF(y, 0)), or filter the rows where it is zero."},
	}
}
