package failure

import (
	"regexp"
	"strings"
)

// A categoryRule assigns a category to root causes by the class's simple name, the message, or both.
type categoryRule struct {
	category string
	classes  string // simple names, separated by blanks; empty = any
	message  string // regular expression over the message, case ignored; empty = any
}

// categoryRules stand in order: the first that fits decides. Messages that settle a matter whatever
// the class come before classes that say little.
func categoryRules() []categoryRule {
	return []categoryRule{
		// Memory: every OutOfMemoryError and memory kill.
		{CategoryMemory, "OutOfMemoryError OOMKilled OOMKilling MemoryError OutOfMemory MemoryReservationException MemoryAllocationException", ""},
		{CategoryMemory, "", `OOMKilled|OutOfMemoryError|beyond (the )?'?(physical|virtual)'? memory limit|exceeding (physical |virtual )?memory|exit ?code( is)?:? ?137|exited with .*137|killed by .*memory|cannot allocate memory|memory cgroup|low on resource: memory|could not allocate .*memory segments?`},
		// Resources: slots, and room to start what offers them.
		{CategoryResources, "NoResourceAvailableException UnfulfillableSlotRequestException SlotNotFoundException FailedScheduling InsufficientResourcesException", ""},
		{CategoryResources, "", `slot request|required slots?|no slots? available|not enough (free )?(slots|resources)|minimum required resources|insufficient (cpu|memory|resources|pods)|nodes are available|exceeded quota|insufficient number of network buffers|number of (available )?slots`},
		// Disks before files: the message decides.
		{CategoryInfrastructure, "DiskErrorException DiskFull Evicted", ""},
		{CategoryInfrastructure, "", `no space left on device|disk usage exceeded flood-stage|disk quota exceeded|not enough (free )?(disk )?space|disk (is )?full|too many open files|read-only file system|input/output error|ephemeral[- ]storage|磁盘空间不足|设备上没有空间`},
		// Class path.
		{CategoryClasspath, "NoClassDefFoundError ClassNotFoundException NoSuchMethodError NoSuchFieldError AbstractMethodError IncompatibleClassChangeError LinkageError UnsupportedClassVersionError VerifyError IllegalAccessError UnsatisfiedLinkError ServiceConfigurationError InvalidClassException NoSuchMethodException NoSuchFieldException NoMatchingTableFactoryException AmbiguousTableFactoryException UnsupportedFileSystemSchemeException UnsupportedFileSystemException ModuleNotFoundError ImportError BootstrapMethodError ClassFormatError", ""},
		{CategoryClasspath, "", `could not find (any factory|a suitable|any format factory|an implementation|or load main class)|multiple factories|cannot discover a connector|could not find a file system implementation|no (filesystem|file system) for scheme|no suitable driver|loader constraint|cannot assign instance of|closed classloader|no factory implements|class not found|could not instantiate the executor|cannot load user class|unable to load class|no executorfactory found`},
		// State, checkpoints, savepoints, table metadata, positions to resume from.
		{CategoryState, "CheckpointException CheckpointError StateMigrationException UpgradeFailureException OffsetOutOfRangeException NoOffsetForPartitionException BackendBuildingException SavepointException RestoreFailedException CommitFailedException CommitStateUnknownException SnapshotExpiredException TriggerSavepointException LogTruncationException ProducerFencedException InvalidProducerEpochException InvalidPidMappingException TransactionalIdNotFoundException", ""},
		{CategoryState, "", `checkpoint|savepoint|\bha metadata|last state|state backend|restore (keyed|operator) state|state (serializer|schema|migration)|max(imum)? parallelism .*(changed|state|restor)|metadata\.json|/metadata/|_metadata\b|/snapshot/|snapshot .*(expired|does not exist|not found)|no longer available on the server|purged (required )?binary logs|could not find first log file name|binlog (file|position|probably)|replication slot|resume token|resume position|offsets? (is )?out of range|state of (the )?operator|not available in the new program|change stream .*lost|memory-backed state|size of the state`},
		// Rights, certificates, credentials: configuration, whoever refuses.
		{CategoryConfig, "AccessDeniedException AccessControlException PermissionDenied PermissionError AuthenticationException SaslAuthenticationException SslAuthenticationException AuthorizationException TopicAuthorizationException GroupAuthorizationException ClusterAuthorizationException TransactionalIdAuthorizationException CertificateException CertificateExpiredException CertPathValidatorException KeyStoreException UnrecoverableKeyException LoginException GSSException InvalidKeyException CredentialsException Forbidden Unauthorized", ""},
		{CategoryConfig, "", `permission[_ ]denied|unauthenticated|access[_ ]?denied|access is denied|拒绝访问|权限不够|not authorized|unauthorized|forbidden|authentication failed|certificat|certification path|PKIX|keystore|truststore|invalid (access ?key|credentials|token)|signature.*does not match|unable to load (aws )?credentials|no (aws )?credentials|login failed|status ?code:? 40[13]`},
		{CategoryConfig, "", `reply-code=40[346]|index_not_found_exception|security_exception|NOAUTH|WRONGPASS`},
		{CategoryInfrastructure, "", `back-off (\S+ )?restarting failed`},
		{CategoryConfig, "Failed ErrImagePull ImagePullBackOff InvalidImageName BackOff FailedMount FailedAttachVolume CreateContainerConfigError FailedCreate", ""},
		{CategoryConfig, "", `failed to pull image|pulling image|errimagepull|imagepullbackoff|manifest unknown|(configmap|secret) .*not found`},
		{CategoryData, "", `(mapper|document)_parsing_exception|number_format_exception|strict_dynamic_mapping_exception`},
		// SQL: refused as a statement, by parser, validator or database. Refused values are data.
		{CategoryData, "PSQLException BatchUpdateException SQLException MysqlDataTruncation SQLIntegrityConstraintViolationException SQLDataException DataTruncation SQLServerException OracleDatabaseException DB2Exception SqlException", `duplicate (key|entry)|violates|constraint|data too long|data truncat|truncated|value too long|out of range|cannot be null|null value in column|invalid input syntax|incorrect .*value|invalid (byte|date|number|datetime)|overflow|ORA-0(0001|1400|1438|1722|1861|12899)|unique`},
		{CategoryConnectivity, "PSQLException SQLException SQLRecoverableException SQLTransientConnectionException SQLNonTransientConnectionException CommunicationsException CJCommunicationsException SQLServerException SQLTimeoutException", `connect|communications link|i/o error|timed? ?out|socket|closed by|too many clients|terminating`},
		{CategorySQL, "ParseException SqlParserException SqlParseException SqlValidateException SqlValidatorException CalciteContextException CalciteException SqlParserEOFException PSQLException BatchUpdateException SQLException SQLSyntaxErrorException MySQLSyntaxErrorException SQLServerException OracleDatabaseException DB2Exception SQLFeatureNotSupportedException ParserException AnalysisException SqlException", ""},
		{CategorySQL, "", `sql validation failed|sql parse failed|non-query expression encountered|encountered ".*" at line|column types of query result|field types of query result|query schema|doesn't support consuming|syntax error|unsupported (query|sql|operation in sql)|object '.*' not found|no match found for function signature|cannot apply '`},
		// Connections.
		{CategoryConnectivity, "ConnectException TimeoutException ConnectTimeoutException SocketTimeoutException SocketException UnknownHostException NoRouteToHostException PortUnreachableException ClosedChannelException AskTimeoutException RecipientUnreachableException RemoteTransportException LocalTransportException PartitionNotFoundException PartitionConnectionException ProducerFailedException DisconnectException NetworkException HttpHostConnectException NoHttpResponseException CommunicationsException CJCommunicationsException RpcConnectionException RpcException UnresolvedAddressException NativeIoException SSLException SSLHandshakeException SSLProtocolException BrokerNotAvailableException NotLeaderOrFollowerException LeaderNotAvailableException CoordinatorNotAvailableException ConnectionRefusedError ConnectionResetError ConnectionError ConnectionClosedException ConnectionException HttpTimeoutException RetryTimeoutException TaskManagerLost PartitionLost TimeoutError MongoSocketOpenException MongoTimeoutException PrematureCloseException BindException StatusRuntimeException HeartbeatTimeoutException TTransportException RedisConnectionException AnnotatedConnectException ConnectionLossException SessionExpiredException ShutdownSignalException AlreadyClosedException", ""},
		{CategoryConnectivity, "", `heartbeat of taskmanager|no longer reachable|connection (was )?(refused|reset|closed|timed out|aborted)|broken pipe|unable to connect|could not connect|failed to connect|cannot connect|failed to resolve|name or service not known|unknown host|host is unreachable|network is unreachable|timed out|remote task manager|no brokers|assigned slot .*removed|disconnect from jobmanager|lost connection|task ?(manager|executor) .*(lost|gone)\b|lost node|bootstrap broker`},
		// Stopped processes, forgotten jobs.
		{CategoryInfrastructure, "FlinkJobNotFoundException InterruptedException CancelTaskException JobCancellationException CancellationException FencingTokenException JobMasterNotLeaderException NodeNotReady Preempted SystemExit ShutdownException FlinkJobTerminatedWithoutCancellationException MissingJobManagerException UnhandledShutdown", ""},
		{CategoryInfrastructure, "", `could not find flink job|job could not be found|signal (15|9)|sigterm|shut(ting)? ?down|is being stopped|has been stopped|was stopped|terminated|leadership|jobmanager deployment (is )?missing|did not exit gracefully|was cancell?ed|container (was )?(released|preempted)|node .*(lost|notready)|crashloopbackoff|back-off \S+ restarting|killed by external signal|non-zero exit code|exit ?(code|status)( is)?:? ?[1-9]|being used by another process|\binterrupted\b|back-off restarting|another execution`},
		// Configuration: files, options, topics, tables, images.
		{CategoryConfig, "FileNotFoundException NoSuchFileException FileAlreadyExistsException NotDirectoryException NoSuchBucketException NoSuchKeyException IllegalConfigurationException ConfigException UnknownTopicOrPartitionException UnknownTopicException InvalidTopicException UnsupportedVersionException DuplicateJobSubmissionException JobExistsException TableNotExistException DatabaseNotExistException NoSuchTableException NoSuchNamespaceException TableAlreadyExistException TableAlreadyExistsException NoSuchObjectException CatalogNotExistException CatalogException PartitionNotExistException InvalidPathException UnresolvableConfigException CliArgsException MissingArgumentException UnrecognizedOptionException FileNotFoundError FileExistsError MissingFile TargetExists InvalidConfigurationException PropertyNotFoundException MalformedURLException URISyntaxException PathNotFoundException StreamNotFoundException ResourceNotFoundException NotFoundException InvalidReplicationFactorException PolicyViolationException InvalidPortException", ""},
		{CategoryConfig, "", `missing (required )?(option|configuration|config|property|value)|required options? (are|is) missing|unsupported options? found|one or more required|does not exist|no such file|isn't accessible|not accessible|cannot find the (file|path)|not found at path|找不到|不存在|invalid (value|option|configuration|config|url|topic|path)|could not parse value|cannot read .*config option|configuration (failed|error)|config option|memory configuration|must be (set|configured|specified|positive)|(topic|bucket|table|file|database|schema|queue|index|stream|subject) .*(not found|not present|unknown)|mkdirs failed|already (been submitted|exists)|'[\w.-]+' is (required|not set|missing)|parallelism .* higher than|unrecognized option|unknown option`},
	}
}

// A classifier holds the rules; one serves a whole input. Expressions are compiled when the first root
// cause comes to them, because most inputs need few.
type classifier struct {
	rules    []categoryRule
	compiled []*regexp.Regexp
}

func newClassifier() *classifier {
	rules := categoryRules()
	return &classifier{rules: rules, compiled: make([]*regexp.Regexp, len(rules))}
}

// matches reports whether the i-th rule fits.
func (c *classifier) matches(i int, name, message string) bool {
	r := c.rules[i]
	if r.classes != "" && !strings.Contains(" "+r.classes+" ", " "+name+" ") {
		return false
	}
	if r.message == "" {
		return true
	}
	if c.compiled[i] == nil {
		c.compiled[i] = regexp.MustCompile("(?i)" + r.message)
	}
	return c.compiled[i].MatchString(message)
}

// maxJudgedBytes bounds how much of a message the rules look at.
const maxJudgedBytes = 16 << 10

// of returns the category of a root cause.
func (c *classifier) of(root *node) string {
	if d, ok := Class(root.class).Doc(); ok {
		return d.Category
	}
	if category := special(root); category != "" {
		return category
	}
	name := simpleName(root.class)
	message := root.message[:min(len(root.message), maxJudgedBytes)]
	for i, r := range c.rules {
		if c.matches(i, name, message) {
			return r.category
		}
	}
	if category := ofFlink(name, message); category != "" {
		return category
	}
	for _, prefix := range []string{"runtime.", "kubernetes.", "yarn.", "client."} {
		if strings.HasPrefix(root.class, "org.apache.flink."+prefix) {
			return CategoryInfrastructure
		}
	}
	if inScheduler(root.frame) && isBareJDK(root) {
		return CategoryInfrastructure
	}
	return CategoryData
}

var aboutData = regexp.MustCompile(`(?i)serializ|parse|convert|\brow|\brecord|\bvalue|\bfield|\belement|\bevent|\bfunction|initiali[sz]e|sink|source|user`)

// ofFlink judges Flink's general exceptions when nothing else did.
func ofFlink(name, message string) string {
	switch name {
	case "ValidationException", "TableException", "CodeGenException":
		return CategorySQL
	case "FlinkException", "FlinkRuntimeException":
		if !aboutData.MatchString(message) {
			return CategoryInfrastructure
		}
	}
	return ""
}

// special decides the cases where neither class nor message alone will do.
func special(root *node) string {
	name := simpleName(root.class)
	switch name {
	case "ClassCastException":
		return classCast(root.message)
	case "NumberFormatException", "DateTimeParseException", "DateTimeException", "ArithmeticException",
		"NullPointerException", "IndexOutOfBoundsException", "ArrayIndexOutOfBoundsException",
		"StringIndexOutOfBoundsException", "JsonParseException", "JsonMappingException", "JsonEOFException",
		"InvalidFormatException", "MismatchedInputException", "CsvReadException", "MalformedInputException",
		"KeyError", "ValueError", "TypeError", "AttributeError", "ZeroDivisionError", "IndexError", "AssertionError":
		return CategoryData
	}
	if name == "ParseException" && !strings.Contains(root.class, "sql") && !strings.Contains(root.class, "calcite") {
		return CategoryData
	}
	if strings.HasPrefix(root.message, "Column '") && strings.Contains(root.message, "NOT NULL") {
		return CategoryData
	}
	if strings.HasPrefix(root.class, "org.rocksdb.") && !strings.Contains(root.message, "No space") {
		return CategoryState
	}
	if name == "TableException" && !strings.Contains(root.message, "onnect") {
		return tableException(root.message)
	}
	return ""
}

// classCast tells a value of the wrong type from one class loaded twice.
func classCast(message string) string {
	from, to, ok := strings.Cut(message, " cannot be cast to ")
	if !ok {
		if strings.Contains(message, "cannot assign instance of") {
			return CategoryClasspath
		}
		return CategoryData
	}
	from = strings.TrimPrefix(from, "class ")
	to = strings.TrimPrefix(to, "class ")
	to, _, _ = strings.Cut(to, " ")
	if from == to {
		return CategoryClasspath
	}
	return CategoryData
}

// tableException judges the planner's general exception by its message.
func tableException(message string) string {
	lower := strings.ToLower(message)
	for _, word := range []string{"not supported", "unsupported", "doesn't support", "does not support", "sql", "query"} {
		if strings.Contains(lower, word) {
			return CategorySQL
		}
	}
	return ""
}

// inScheduler reports whether a frame is in the parts of Flink that run no user code.
func inScheduler(frame string) bool {
	for _, part := range []string{"scheduler", "jobmaster", "executiongraph", "resourcemanager", "dispatcher", "rpc", "util.Preconditions"} {
		if strings.HasPrefix(frame, "org.apache.flink.runtime."+part) || strings.HasPrefix(frame, "org.apache.flink."+part) {
			return true
		}
	}
	return false
}

func isBareJDK(root *node) bool {
	return strings.HasPrefix(root.class, "java.lang.") && root.message == ""
}
