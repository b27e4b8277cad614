/** Reasons, each with the tests of the Kv contract that fail for it. */
type TestsByReason = Readonly<Record<string, readonly string[]>>;

/** Differences of both implementations of Deno KV. */
const ofBoth: TestsByReason = {
  "Deno KV compares versionstamps as bytes, and takes undefined for null": [
    "atomic: refuses a string with an upper-case digit as a versionstamp",
    "atomic: refuses undefined as a versionstamp",
    "atomic: refuses an invalid versionstamp with a TypeError",
  ],
  "Deno KV checks a part of the input only at the commit, or never": [
    "atomic: throws for invalid input when it is passed in, and ignores it",
    "sum, min, max: mutate refuses a sum of a bigint",
    "sum, min, max: mutate refuses a sum of a number",
    "sum, min, max: throw a TypeError for an invalid mutation",
    "enqueue, listenQueue: refuses an undelivered key of no parts",
    "enqueue, listenQueue: refuses an invalid option with a TypeError",
    "get, set, delete: refuses an invalid key with a TypeError",
    "list selectors and cursors: refuses an invalid selector, option or cursor with a TypeError",
    "list selectors and cursors: refuses a cursor from outside the selector's range",
  ],
  "Deno KV replaces a lone surrogate by U+FFFD, so that two keys become one": [
    "get, set, delete: refuses an array with a lone surrogate as a key",
    "get, set, delete: refuses a check of an array with a lone surrogate as a key",
    "list selectors and cursors: refuses a prefix with a lone surrogate as a selector",
    "watch: refuses an array with a lone surrogate as a key",
  ],
  "Deno KV stores a KvU64 inside another value as a plain object": [
    "get, set, delete: refuses a KvU64 inside another value",
  ],
  "Deno KV returns the caller's own array as the key of the entry": [
    "get, set, delete: returns a copy of the requested key in an entry",
  ],
  "Deno KV reads at most 10 keys at once": ["getMany: accepts a thousand keys"],
  "Deno KV reads batches of another size than its documentation says": [
    "list options and iterators: a batch has limit entries, or 100, and at most 500",
  ],
  "Deno KV returns the same entry, or none, from overlapping calls": [
    "list options and iterators: overlapping calls of next get one entry each from batches of 1",
  ],
  "In Deno KV an iterator without an entry has no cursor": [
    "list selectors and cursors: before the first entry, the cursor is the one that was passed, or empty",
  ],
  "Deno KV sorts bigints before numbers": [
    "list selectors and cursors: parts sort by type in the order of the specification",
  ],
  "Deno KV writes the mutations before a refused sum": [
    "sum, min, max: refuse the whole commit if a bigint is stored",
    "sum, min, max: refuse the whole commit if a number is stored",
    "sum, min, max: refuse the whole commit if eight bytes is stored",
    "sum, min, max: refuse the whole commit if null is stored",
    "sum, min, max: do not affect concurrent commits if they are refused",
  ],
  "Deno KV removes an expired entry up to a minute later": [
    "expireIn: a refused commit does not change the expiry time",
    "expireIn: an entry expires if its set is passed as data",
    "expireIn: an expired entry is absent",
    "expireIn: an expired entry is not listed and does not count toward a limit",
    "expireIn: an expired key is absent for a check",
    "expireIn: setting a key again replaces its expiry time",
    "expireIn: sum, min and max treat an expired entry as absent",
    "watch: reports an expired key as absent",
    "watch: reports that a key expires without a commit",
  ],
  "Deno KV does not return the expiry time of an entry": ["expireIn: an entry has its expiry time"],
  "Deno KV does not report to watches what its queue stores": [
    "enqueue, listenQueue: reports a stored message to a watch",
  ],
  "Deno KV aborts unfinished calls when it is closed": ["close: waits for commits that have begun"],
  "Deno KV still returns the entries of the batch that it has read": [
    "close: makes an iterator fail that has entries left in its batch",
  ],
  "In Deno KV a second close is an error": ["close: can be called again"],
  "Deno KV closes synchronously and is not an AsyncDisposable": [
    "close: is called and awaited by Symbol.asyncDispose",
  ],
  "The codes are Keywright's own": [
    "error codes: KW_COMMIT_MISSING",
    "error codes: KW_DATABASE_CLOSED",
    "error codes: KW_KEY_INVALID",
    "error codes: KW_OPTION_INVALID, with the name of the option",
    "error codes: KW_SELECTOR_INVALID",
    "error codes: KW_VALUE_NOT_U64, with the operation",
    "error codes: KW_VALUE_UNSUPPORTED, with the path to the part",
    "error codes: KW_VERSIONSTAMP_INVALID",
  ],
};

/** Differences of `Deno.openKv()` alone. */
const ofDeno: TestsByReason = {
  "Deno accepts 0, which expires at once": ["expireIn: refuses 0 as expireIn"],
  "Deno does not check the expireIn of mutate()": [
    "expireIn: refuses a string as expireIn",
    "expireIn: refuses null as expireIn",
  ],
  "Deno accepts an empty key in a read and finds nothing": [
    "get, set, delete: refuses an empty array as a key",
    "watch: refuses an empty array as a key",
  ],
  "Deno's iterators have no return()": [
    "list options and iterators: an iterator stays done, and can be left at any entry",
    "list options and iterators: only calls of next before a return get an entry",
  ],
  "Deno returns the same entry from overlapping calls": [
    "list options and iterators: overlapping calls of next get one entry each from batches of 2",
    "list options and iterators: overlapping calls of next get one entry each from batches of 3",
    "list options and iterators: overlapping calls of next get one entry each from batches of 100",
  ],
  "In Deno the cursor of an iterator that is done is empty, which starts from the beginning": [
    "list options and iterators: pages by cursor have every entry once during inserts and deletes",
  ],
  "Deno accepts a cursor with padding": [
    "list selectors and cursors: refuses a cursor that no iterator returned",
  ],
  "In Deno the cursor of a key that equals the common prefix of the range is empty": [
    "list selectors and cursors: a start that its end extends: a cursor resumes after each entry",
    "list selectors and cursors: a start that its end extends: a cursor resumes after each entry in reverse",
  ],
};

/** Differences of `@deno/kv` alone. */
const ofDenoKv: TestsByReason = {
  "It treats an empty versionstamp as null": ["atomic: refuses an empty string as a versionstamp"],
  "It encodes values only at the commit": ["atomic: copies values when they are passed in"],
  "An atomic operation can be awaited and is its own result": [
    "atomic: cannot be awaited without commit()",
  ],
  "It has no commitVersionstamp()": [
    "commitVersionstamp: as the last part becomes the versionstamp of the commit",
    "commitVersionstamp: does not make other symbols valid",
    "commitVersionstamp: is refused except as the last part of a key to set",
    "commitVersionstamp: is accepted in a set that is passed as data",
    "commitVersionstamp: is the same for all keys of a commit",
    "commitVersionstamp: makes keys sort in the order of their commits",
    "commitVersionstamp: stores nothing if a check fails",
  ],
  "It does not check the options of enqueue": [
    "enqueue, listenQueue: refuses a delay of more than 30 days",
    "enqueue, listenQueue: refuses a delay that is a string",
    "enqueue, listenQueue: refuses a negative delay",
    "enqueue, listenQueue: refuses a schedule of six retries",
    "enqueue, listenQueue: refuses a schedule with NaN",
    "enqueue, listenQueue: refuses a schedule with a negative time",
    "enqueue, listenQueue: refuses a schedule with more than an hour",
  ],
  "It has one backoffSchedule for all messages": [
    "enqueue, listenQueue: stores a message under its keys after the last retry of its schedule",
    "enqueue, listenQueue: drops an undelivered message without keys",
    "enqueue, listenQueue: delivers once with an empty schedule, then stores the message",
  ],
  "Its listenQueue rejects if the end of a delivery can no longer be stored": [
    "enqueue, listenQueue: listenQueue resolves if the database is closed during a delivery",
  ],
  "It throws an Error instead of Deno's TypeError or RangeError": [
    "enqueue, listenQueue: refuses a message that cannot be stored with a TypeError",
    "get, set, delete: refuses an unsupported value with a TypeError",
    "sum, min, max: throw a TypeError if another value is stored",
    "sum, min, max: throw a RangeError for an operand out of range",
    "watch: refuses an array with null as a key",
  ],
  "It treats -0 in a key as 0": [
    "get, set, delete: distinguishes 0 and -0 in keys",
    "list selectors and cursors: parts of one type sort by value",
  ],
  "It does not validate the key of a check": [
    "get, set, delete: refuses a check of an empty array as a key",
  ],
  "It returns bytes as a Buffer": ["get, set, delete: reads back bytes as a plain Uint8Array"],
  "In reverse it includes the key that equals the prefix": [
    "list selectors and cursors: a longer prefix selects its entries in reverse",
    "list selectors and cursors: a longer prefix: a cursor resumes after each entry in reverse",
    "list selectors and cursors: a prefix selects its entries in reverse",
    "list selectors and cursors: a prefix: a cursor resumes after each entry in reverse",
    "list selectors and cursors: a prefix and an end selects its entries in reverse",
    "list selectors and cursors: a prefix and an end: a cursor resumes after each entry in reverse",
    "list selectors and cursors: a prefix and an end under another key selects its entries in reverse",
    "list selectors and cursors: a prefix and an end under another key: a cursor resumes after each entry in reverse",
    "list options and iterators: limit is the maximum number of entries",
  ],
  "It refuses an empty cursor": ["list selectors and cursors: an empty cursor counts as no cursor"],
  "It never ends if the only entry of a batch is the key that equals the prefix": [
    "list selectors and cursors: batches of one entry have the same entries",
  ],
  "It does not validate the value of mutate()": [
    "sum, min, max: mutate refuses a delete with a value",
    "sum, min, max: mutate refuses a set without a value",
  ],
  "It writes the mutations before a sum without a value": [
    "sum, min, max: mutate refuses a sum without a value",
  ],
  "Its watches do not report that a key is absent before it has been set": [
    "watch: reports first that a key is absent",
  ],
  "Its watches do not end": ["watch: ends when the database is closed"],
};

/** The tests of the Kv contract that `Deno.openKv()` of Deno 2.9.6 fails, each with the reason. */
export const denoDifferences: Readonly<Record<string, string>> = reasonByTest(ofBoth, ofDeno);

/** The tests of the Kv contract that `@deno/kv` 0.14.0 fails, each with the reason. */
export const denoKvDifferences: Readonly<Record<string, string>> = reasonByTest(ofBoth, ofDenoKv);

function reasonByTest(...lists: readonly TestsByReason[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lists.flatMap((list) =>
      Object.entries(list).flatMap(([reason, tests]) => tests.map((test) => [test, reason])),
    ),
  );
}
