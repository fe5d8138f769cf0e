package failure

import (
	"strings"
	"testing"
)

// TestCategories lists root causes of many kinds, one a line, under their category.
func TestCategories(t *testing.T) {
	c := newClassifier()
	for category, causes := range map[string]string{
		CategoryData: `
java.lang.NumberFormatException: For input string: "12,5"
java.lang.NumberFormatException: Zero length string
java.time.format.DateTimeParseException: Text '2026-13-01' could not be parsed: Invalid value for MonthOfYear (valid values 1 - 12): 13
java.time.DateTimeException: Fail to parse timestamps.
java.lang.NullPointerException: Cannot invoke "String.length()" because "s" is null
java.lang.NullPointerException
java.lang.ArithmeticException: / by zero
java.lang.ClassCastException: class java.lang.Integer cannot be cast to class java.lang.String (java.lang.Integer and java.lang.String are in module java.base of loader 'bootstrap')
java.lang.IllegalArgumentException: unknown colour 17
java.lang.IllegalStateException: order 7 was closed twice
java.lang.StackOverflowError
java.lang.ExceptionInInitializerError
java.util.NoSuchElementException: No value present
java.util.ConcurrentModificationException
java.lang.UnsupportedOperationException
com.fasterxml.jackson.core.JsonParseException: Unexpected character ('}' (code 125)): was expecting double-quote to start field name
com.fasterxml.jackson.databind.exc.MismatchedInputException: Cannot deserialize value of type java.lang.Long
org.apache.avro.AvroTypeException: Found string, expecting union
org.apache.flink.table.api.TableException: Column 'a' is NOT NULL, however, a null value is being written into it.
java.nio.charset.MalformedInputException: Input length = 1
org.apache.kafka.common.errors.RecordTooLargeException: The message is 2097252 bytes when serialized which is larger than 1048576
org.apache.kafka.common.errors.SerializationException: Unknown magic byte!
org.postgresql.util.PSQLException: ERROR: duplicate key value violates unique constraint "orders_pkey"
org.postgresql.util.PSQLException: ERROR: value too long for type character varying(10)
org.postgresql.util.PSQLException: ERROR: null value in column "id" of relation "t" violates not-null constraint
com.mysql.cj.jdbc.exceptions.MysqlDataTruncation: Data truncation: Data too long for column 'name' at row 1
java.sql.SQLIntegrityConstraintViolationException: Duplicate entry '7' for key 'PRIMARY'
AttributeError: 'NoneType' object has no attribute 'upper'
KeyError: 'zone'
ValueError: invalid literal for int() with base 10: 'x'
com.acme.RefusedException: answered 409 for order D-7
org.apache.flink.util.FlinkRuntimeException: Could not deserialize record`,
		CategoryConfig: `
java.io.FileNotFoundException: /srv/in/a.csv (No such file or directory)
java.nio.file.NoSuchFileException: /etc/tls/client.jks
java.nio.file.AccessDeniedException: /srv/out
org.apache.hadoop.security.AccessControlException: Permission denied: user=flow, access=WRITE, inode="/lake":hdfs:hdfs:drwxr-xr-x
org.apache.flink.configuration.IllegalConfigurationException: Sum of configured Framework Heap Memory exceed configured Total Flink Memory
org.apache.flink.table.api.ValidationException: One or more required options are missing.
org.apache.flink.table.api.ValidationException: Unsupported options found for 'kafka'.
java.lang.IllegalArgumentException: Could not parse value 'abc' for key 'parallelism.default'.
org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host this topic-partition.
org.apache.kafka.common.errors.TimeoutException: Topic trips not present in metadata after 60000 ms.
org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [trips]
org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed during authentication due to invalid credentials with SASL mechanism PLAIN
org.apache.kafka.common.config.ConfigException: No resolvable bootstrap urls given in bootstrap.servers
org.apache.kafka.common.errors.InvalidTopicException: Topic 'a b' is invalid
javax.net.ssl.SSLHandshakeException: PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target
java.security.cert.CertificateExpiredException: NotAfter: Fri May 01 00:00:00 UTC 2026
java.io.IOException: Keystore was tampered with, or password was incorrect
org.postgresql.util.PSQLException: ERROR: permission denied for table orders
org.postgresql.util.PSQLException: FATAL: password authentication failed for user "flow"
java.sql.SQLException: Access denied for user 'flow'@'10.0.0.1' (using password: YES)
com.amazonaws.services.s3.model.AmazonS3Exception: Access Denied (Service: Amazon S3; Status Code: 403; Error Code: AccessDenied)
software.amazon.awssdk.services.s3.model.NoSuchBucketException: The specified bucket does not exist
com.amazonaws.SdkClientException: Unable to load AWS credentials from any provider in the chain
org.apache.paimon.catalog.Catalog$TableNotExistException: Table a.b does not exist.
org.apache.iceberg.exceptions.NoSuchTableException: Table does not exist: a.b
org.apache.flink.table.catalog.exceptions.DatabaseNotExistException: Database x does not exist in Catalog y.
org.apache.flink.runtime.client.DuplicateJobSubmissionException: Job has already been submitted.
org.apache.flink.client.cli.CliArgsException: Missing JAR file
Failed: Failed to pull image "r/x:7": rpc error: code = NotFound desc = manifest unknown
ErrImagePull: rpc error
FailedMount: MountVolume.SetUp failed for volume "c" : secret "s" not found
java.lang.IllegalArgumentException: Missing configuration value 'x.y'.
FileNotFoundError: [Errno 2] No such file or directory: '/opt/model.bin'
PermissionError: [Errno 13] Permission denied: '/opt/out'
java.nio.file.FileAlreadyExistsException: /srv/out
org.apache.hadoop.mapred.FileAlreadyExistsException: Output directory hdfs:/out already exists
org.apache.flink.core.fs.UnsupportedFileSystemSchemeException2: x must be set
io.confluent.kafka.schemaregistry.client.rest.exceptions.RestClientException: Subject 'trips-value' not found.; error code: 40401`,
		CategoryResources: `
org.apache.flink.runtime.jobmanager.scheduler.NoResourceAvailableException: Could not acquire the minimum required resources.
java.util.concurrent.TimeoutException: Pending slot request timed out in slot pool.
org.apache.flink.util.FlinkException: Pending slot request with SlotRequestId{6} has been released.
org.apache.flink.runtime.resourcemanager.exceptions.UnfulfillableSlotRequestException: Could not fulfill slot request a.
FailedScheduling: 0/3 nodes are available: 3 Insufficient cpu.
java.io.IOException: Insufficient number of network buffers: required 33, but only 2 available.`,
		CategoryConnectivity: `
java.net.ConnectException: Connection refused
java.net.SocketTimeoutException: connect timed out
java.net.UnknownHostException: db-7
java.net.NoRouteToHostException: No route to host
java.net.SocketException: Connection reset
java.io.IOException: Connection reset by peer
java.io.IOException: Broken pipe
org.apache.flink.shaded.netty4.io.netty.channel.AbstractChannel$AnnotatedConnectException: Connection refused: jm/10.0.0.1:8081
java.util.concurrent.TimeoutException: Heartbeat of TaskManager with id tm-1 timed out.
java.util.concurrent.TimeoutException: The heartbeat of JobManager with id 7 timed out.
org.apache.flink.runtime.resourcemanager.exceptions.ResourceManagerException: TaskManager with id tm-1 is no longer reachable.
org.apache.flink.runtime.io.network.netty.exception.RemoteTransportException: Connection unexpectedly closed by remote task manager 'h/10.0.0.1:1 [ tm-1 ] '. This might indicate that the remote task manager was lost.
org.apache.flink.runtime.io.network.partition.PartitionNotFoundException: Partition 7 not found.
org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment. Call: describeTopics
org.apache.kafka.common.errors.DisconnectException
akka.pattern.AskTimeoutException: Ask timed out on [Actor[x]] after [10000 ms].
com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure
org.postgresql.util.PSQLException: Connection to db:5432 refused. Check that the hostname and port are correct
org.postgresql.util.PSQLException: An I/O error occurred while sending to the backend.
javax.net.ssl.SSLException: closing inbound before receiving peer's close_notify
org.apache.http.NoHttpResponseException: es:9200 failed to respond
ConnectionRefusedError: [Errno 111] Connection refused`,
		CategoryState: `
org.apache.flink.runtime.checkpoint.CheckpointException: Checkpoint expired before completing.
org.apache.flink.util.FlinkRuntimeException: Exceeded checkpoint tolerable failure threshold.
java.lang.IllegalStateException: Failed to rollback to checkpoint/savepoint file:/s. Cannot map checkpoint/savepoint state for operator d to the new program
org.apache.flink.util.StateMigrationException: The new state serializer must not be incompatible with the old state serializer
java.io.FileNotFoundException: Cannot find checkpoint or savepoint file/directory 'file:/srv/s' on file system 'file'.
java.io.FileNotFoundException: /srv/chk/0a/chk-17/_metadata (No such file or directory)
org.apache.flink.runtime.state.BackendBuildingException: Failed when trying to restore heap backend
org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position FetchPosition{offset=7} is out of range for partition trips-0
org.apache.flink.kubernetes.operator.exception.UpgradeFailureException: HA metadata not available to restore from last state.
org.apache.iceberg.exceptions.NotFoundException: Location does not exist: s3://lake/a/metadata/v17.metadata.json
io.debezium.DebeziumException: The connector is trying to read binlog starting at binlog file 'b.7', but this is no longer available on the server. Reconfigure the connector to use a snapshot when needed.
java.lang.IllegalStateException: The max parallelism (128) of the operator state is lower than the parallelism
java.io.IOException: Size of the state is larger than the maximum permitted memory-backed state. Size=5300000, maxSize=5242880.
org.rocksdb.RocksDBException: While open a file for random read: /tmp/db/000017.sst: No such file or directory`,
		CategoryClasspath: `
java.lang.NoClassDefFoundError: org/apache/hadoop/conf/Configuration
java.lang.ClassNotFoundException: org.apache.kafka.clients.consumer.KafkaConsumer
java.lang.NoSuchMethodError: 'void a.b.C.d()'
java.lang.AbstractMethodError: Receiver class a.B does not define or inherit an implementation
java.lang.IncompatibleClassChangeError: Found interface a.B, but class was expected
java.lang.UnsupportedClassVersionError: a/B has been compiled by a more recent version of the Java Runtime (class file version 61.0)
java.lang.LinkageError: loader constraint violation
org.apache.flink.table.api.ValidationException: Could not find any factory for identifier 'kafka' that implements 'org.apache.flink.table.factories.DynamicTableFactory' in the classpath.
org.apache.flink.table.api.ValidationException: Multiple factories for identifier 'jdbc' found in the classpath.
org.apache.flink.core.fs.UnsupportedFileSystemSchemeException: Could not find a file system implementation for scheme 's3'. The scheme is directly supported by Flink through the following plugin(s): flink-s3-fs-hadoop.
java.sql.SQLException: No suitable driver found for jdbc:postgresql://db/x
java.lang.ClassCastException: cannot assign instance of java.lang.invoke.SerializedLambda to field a.B.c of type d.E in instance of a.B
java.lang.ClassCastException: class a.B cannot be cast to class a.B (a.B is in unnamed module of loader x; a.B is in unnamed module of loader 'app')
java.io.InvalidClassException: a.B; local class incompatible: stream classdesc serialVersionUID = 1, local class serialVersionUID = 2
ModuleNotFoundError: No module named 'numpy'
java.util.ServiceConfigurationError: a.Factory: Provider b.C not found`,
		CategoryMemory: `
java.lang.OutOfMemoryError: Java heap space
java.lang.OutOfMemoryError: Metaspace
java.lang.OutOfMemoryError: Direct buffer memory
java.lang.OutOfMemoryError
OOMKilled
java.lang.Exception: Container [pid=7,containerID=c] is running beyond physical memory limits. Current usage: 2.1 GB of 2 GB physical memory used
org.apache.flink.util.FlinkException: Container exited with a non-zero exit code 137
MemoryError`,
		CategorySQL: `
org.apache.flink.sql.parser.impl.ParseException: Encountered "order" at line 1, column 25.
org.apache.calcite.sql.validate.SqlValidatorException: Object 'orders' not found
org.apache.calcite.sql.parser.SqlParseException: Encountered "FROM" at line 1
org.apache.flink.table.api.ValidationException: SQL validation failed. From line 1
org.apache.flink.table.api.SqlParserException: SQL parse failed. Non-query expression encountered in illegal context
org.postgresql.util.PSQLException: ERROR: syntax error at or near "SELEC"
org.postgresql.util.PSQLException: ERROR: modification of distribution columns is not supported
org.postgresql.util.PSQLException: ERROR: relation "orders" does not exist
java.sql.SQLSyntaxErrorException: Table 'db.orders' doesn't exist
com.microsoft.sqlserver.jdbc.SQLServerException: Incorrect syntax near 'x'.
org.apache.flink.table.api.TableException: Table sink 'a.b.c' doesn't support consuming update changes which is produced by node GroupAggregate
org.apache.flink.table.api.ValidationException: Column types of query result and sink for 'a.b.c' do not match.`,
		CategoryInfrastructure: `
java.io.IOException: No space left on device
org.apache.hadoop.util.DiskChecker$DiskErrorException: No space available in any of the local directories.
java.io.IOException: Too many open files
org.apache.flink.runtime.messages.FlinkJobNotFoundException: Could not find Flink job (0a)
org.apache.flink.util.FlinkException: The TaskExecutor is shutting down.
org.apache.flink.util.FlinkException: JobManager is shutting down.
java.io.IOException: Disk quota exceeded
Evicted: The node was low on resource: ephemeral-storage.
org.apache.flink.util.FlinkException: TaskManager was stopped by SIGTERM
org.apache.flink.kubernetes.operator.exception.MissingJobManagerException: Missing JobManager deployment
DiskFull: write /out/part-0: no space left on device`,
	} {
		for line := range strings.SplitSeq(strings.TrimSpace(causes), "\n") {
			class, message, _ := strings.Cut(line, ": ")
			if got := c.of(&node{class: class, message: message}); got != category {
				t.Errorf("%s\n got %s, want %s", line, got, category)
			}
		}
	}
}
