/** Reasons, each with the tests of the Kv contract that fail for `@deno/kv` over KV Connect. */
const ofDenoKv: Readonly<Record<string, readonly string[]>> = {
  "It treats -0 in a key as 0": [
    "get, set, delete: distinguishes 0 and -0 in keys",
    "list selectors and cursors: parts of one type sort by value",
  ],
  "Deno KV returns the caller's own array as the key of the entry": [
    "get, set, delete: returns a copy of the requested key in an entry",
  ],
  "Deno KV replaces a lone surrogate by U+FFFD, so that two keys become one": [
    "get, set, delete: refuses an array with a lone surrogate as a key",
    "get, set, delete: refuses a check of an array with a lone surrogate as a key",
    "list selectors and cursors: refuses a prefix with a lone surrogate as a selector",
    "watch: refuses an array with a lone surrogate as a key",
  ],
  "Deno KV checks a part of the input only at the commit, or never": [
    "get, set, delete: refuses an invalid key with a TypeError",
    "list selectors and cursors: refuses an invalid selector, option or cursor with a TypeError",
    "list selectors and cursors: refuses a cursor from outside the selector's range",
    "atomic: throws for invalid input when it is passed in, and ignores it",
    "sum, min, max: throw a TypeError for an invalid mutation",
    "enqueue, listenQueue: refuses an invalid option with a TypeError",
    "enqueue, listenQueue: refuses an undelivered key of no parts",
  ],
  "It throws an Error instead of Deno's TypeError or RangeError": [
    "get, set, delete: refuses an unsupported value with a TypeError",
    "sum, min, max: throw a TypeError if another value is stored",
    "sum, min, max: throw a RangeError for an operand out of range",
    "watch: refuses an array with null as a key",
    "enqueue, listenQueue: refuses a message that cannot be stored with a TypeError",
    "watch: refuses a string as a key",
  ],
  "Deno KV stores a KvU64 inside another value as a plain object": [
    "get, set, delete: refuses a KvU64 inside another value",
  ],
  "Deno KV reads at most 10 keys at once": ["getMany: accepts a thousand keys"],
  "In reverse it includes the key that equals the prefix": [
    "list selectors and cursors: a prefix selects its entries in reverse",
    "list selectors and cursors: a prefix: a cursor resumes after each entry in reverse",
    "list selectors and cursors: a longer prefix selects its entries in reverse",
    "list selectors and cursors: a longer prefix: a cursor resumes after each entry in reverse",
    "list selectors and cursors: a prefix and an end selects its entries in reverse",
    "list selectors and cursors: a prefix and an end: a cursor resumes after each entry in reverse",
    "list selectors and cursors: a prefix and an end under another key selects its entries in reverse",
    "list selectors and cursors: a prefix and an end under another key: a cursor resumes after each entry in reverse",
    "list options and iterators: limit is the maximum number of entries",
  ],
  "It never ends if the only entry of a batch is the key that equals the prefix": [
    "list selectors and cursors: batches of one entry have the same entries",
  ],
  "In Deno KV an iterator without an entry has no cursor": [
    "list selectors and cursors: before the first entry, the cursor is the one that was passed, or empty",
  ],
  "Deno KV sorts bigints before numbers": [
    "list selectors and cursors: parts sort by type in the order of the specification",
  ],
  "It refuses an empty cursor": ["list selectors and cursors: an empty cursor counts as no cursor"],
  "Deno KV returns the same entry, or none, from overlapping calls": [
    "list options and iterators: overlapping calls of next get one entry each from batches of 1",
  ],
  "Deno KV reads batches of another size than its documentation says": [
    "list options and iterators: a batch has limit entries, or 100, and at most 500",
  ],
  "It treats an empty versionstamp as null": ["atomic: refuses an empty string as a versionstamp"],
  "Deno KV compares versionstamps as bytes, and takes undefined for null": [
    "atomic: refuses a string with an upper-case digit as a versionstamp",
    "atomic: refuses undefined as a versionstamp",
    "atomic: refuses an invalid versionstamp with a TypeError",
  ],
  "An atomic operation can be awaited and is its own result": [
    "atomic: cannot be awaited without commit()",
  ],
  "It encodes values only at the commit": ["atomic: copies values when they are passed in"],
  "It does not validate the value of mutate()": [
    "sum, min, max: mutate refuses a set without a value",
    "sum, min, max: mutate refuses a delete with a value",
  ],
  "Deno KV does not return the expiry time of an entry": ["expireIn: an entry has its expiry time"],
  "It has no commitVersionstamp()": [
    "commitVersionstamp: as the last part becomes the versionstamp of the commit",
    "commitVersionstamp: makes keys sort in the order of their commits",
    "commitVersionstamp: is the same for all keys of a commit",
    "commitVersionstamp: is accepted in a set that is passed as data",
    "commitVersionstamp: stores nothing if a check fails",
    "commitVersionstamp: is refused except as the last part of a key to set",
    "commitVersionstamp: does not make other symbols valid",
  ],
  "Its watches do not report that a key is absent before it has been set": [
    "watch: reports first that a key is absent",
  ],
  "It does not report a commit that leaves the entries as they were": [
    "watch: with raw also reports commits that leave its keys unchanged",
  ],
  "Its watches do not end": ["watch: ends when the database is closed"],
  "'listenQueue' is not possible over KV Connect": [
    "enqueue, listenQueue: delivers a message that is enqueued before or after the listener",
    "enqueue, listenQueue: delivers messages of every type unchanged",
    "enqueue, listenQueue: does not enqueue a message if a check fails",
    "enqueue, listenQueue: copies a message when it is passed in",
    "enqueue, listenQueue: does not deliver a message again after its handler succeeds",
    "enqueue, listenQueue: delivers many messages",
    "enqueue, listenQueue: delivers each message to one of several listeners",
    "enqueue, listenQueue: enqueues a message with the rest of its commit",
    "enqueue, listenQueue: delivers a delayed message after its delay",
    "enqueue, listenQueue: delivers a message again if its handler throws",
    "enqueue, listenQueue: delivers a message again if its handler rejects",
    "enqueue, listenQueue: waits between deliveries as the schedule says",
    "enqueue, listenQueue: listenQueue resolves when the database is closed",
  ],
  "It has one backoffSchedule for all messages": [
    "enqueue, listenQueue: stores a message under its keys after the last retry of its schedule",
    "enqueue, listenQueue: delivers once with an empty schedule, then stores the message",
    "enqueue, listenQueue: drops an undelivered message without keys",
  ],
  "Deno KV does not report to watches what its queue stores": [
    "enqueue, listenQueue: reports a stored message to a watch",
  ],
  "Its listenQueue rejects if the end of a delivery can no longer be stored": [
    "enqueue, listenQueue: listenQueue resolves if the database is closed during a delivery",
  ],
  "It does not check the options of enqueue": [
    "enqueue, listenQueue: refuses a delay that is a string",
    "enqueue, listenQueue: refuses a negative delay",
    "enqueue, listenQueue: refuses a delay of more than 30 days",
    "enqueue, listenQueue: refuses a schedule of six retries",
    "enqueue, listenQueue: refuses a schedule with a negative time",
    "enqueue, listenQueue: refuses a schedule with NaN",
    "enqueue, listenQueue: refuses a schedule with more than an hour",
    "enqueue, listenQueue: refuses a delay of NaN",
  ],
  "Operations and iterators that had begun go on after close": [
    "close: makes operations and iterators that had begun fail",
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
    "error codes: KW_KEY_INVALID",
    "error codes: KW_VALUE_UNSUPPORTED, with the path to the part",
    "error codes: KW_VERSIONSTAMP_INVALID",
    "error codes: KW_SELECTOR_INVALID",
    "error codes: KW_VALUE_NOT_U64, with the operation",
    "error codes: KW_OPTION_INVALID, with the name of the option",
    "error codes: KW_COMMIT_MISSING",
    "error codes: KW_DATABASE_CLOSED",
  ],
};

/** The same of `Deno.openKv`. */
const ofDeno: Readonly<Record<string, readonly string[]>> = {
  "Deno KV returns the caller's own array as the key of the entry": [
    "get, set, delete: returns a copy of the requested key in an entry",
  ],
  "Deno accepts an empty key in a read and finds nothing": [
    "get, set, delete: refuses an empty array as a key",
    "watch: refuses an empty array as a key",
  ],
  "Deno KV replaces a lone surrogate by U+FFFD, so that two keys become one": [
    "get, set, delete: refuses an array with a lone surrogate as a key",
    "get, set, delete: refuses a check of an array with a lone surrogate as a key",
    "list selectors and cursors: refuses a prefix with a lone surrogate as a selector",
    "watch: refuses an array with a lone surrogate as a key",
  ],
  "Deno KV checks a part of the input only at the commit, or never": [
    "get, set, delete: refuses an invalid key with a TypeError",
    "list selectors and cursors: refuses an invalid selector, option or cursor with a TypeError",
    "list selectors and cursors: refuses a cursor from outside the selector's range",
    "atomic: throws for invalid input when it is passed in, and ignores it",
    "sum, min, max: throw a TypeError for an invalid mutation",
    "enqueue, listenQueue: refuses an invalid option with a TypeError",
  ],
  "Deno KV stores a KvU64 inside another value as a plain object": [
    "get, set, delete: refuses a KvU64 inside another value",
  ],
  "Deno KV reads at most 10 keys at once": ["getMany: accepts a thousand keys"],
  "In Deno the cursor of a key that equals the common prefix of the range is empty": [
    "list selectors and cursors: a start that its end extends: a cursor resumes after each entry",
    "list selectors and cursors: a start that its end extends: a cursor resumes after each entry in reverse",
  ],
  "In Deno KV an iterator without an entry has no cursor": [
    "list selectors and cursors: before the first entry, the cursor is the one that was passed, or empty",
  ],
  "Deno KV sorts bigints before numbers": [
    "list selectors and cursors: parts sort by type in the order of the specification",
  ],
  "Deno accepts a cursor with padding": [
    "list selectors and cursors: refuses a cursor that no iterator returned",
  ],
  "In Deno the cursor of an iterator that is done is empty, which starts from the beginning": [
    "list options and iterators: pages by cursor have every entry once during inserts and deletes",
  ],
  "Deno's iterators have no return()": [
    "list options and iterators: an iterator stays done, and can be left at any entry",
    "list options and iterators: only calls of next before a return get an entry",
  ],
  "Deno KV returns the same entry, or none, from overlapping calls": [
    "list options and iterators: overlapping calls of next get one entry each from batches of 1",
  ],
  "Deno returns the same entry from overlapping calls": [
    "list options and iterators: overlapping calls of next get one entry each from batches of 2",
    "list options and iterators: overlapping calls of next get one entry each from batches of 3",
    "list options and iterators: overlapping calls of next get one entry each from batches of 100",
  ],
  "Deno KV reads batches of another size than its documentation says": [
    "list options and iterators: a batch has limit entries, or 100, and at most 500",
  ],
  "Deno KV compares versionstamps as bytes, and takes undefined for null": [
    "atomic: refuses a string with an upper-case digit as a versionstamp",
    "atomic: refuses undefined as a versionstamp",
    "atomic: refuses an invalid versionstamp with a TypeError",
  ],
  "It throws an Error instead of Deno's TypeError or RangeError": [
    "sum, min, max: throw a TypeError if another value is stored",
  ],
  "Deno KV does not return the expiry time of an entry": ["expireIn: an entry has its expiry time"],
  "Deno accepts 0, which expires at once": ["expireIn: refuses 0 as expireIn"],
  "Deno does not check the expireIn of mutate()": [
    "expireIn: refuses a string as expireIn",
    "expireIn: refuses null as expireIn",
  ],
  "It does not report a commit that leaves the entries as they were": [
    "watch: with raw also reports commits that leave its keys unchanged",
  ],
  "Deno has no queues over KV Connect": [
    "enqueue, listenQueue: delivers a message that is enqueued before or after the listener",
    "enqueue, listenQueue: delivers messages of every type unchanged",
    "enqueue, listenQueue: delivers many messages",
    "enqueue, listenQueue: delivers each message to one of several listeners",
    "enqueue, listenQueue: enqueues a message with the rest of its commit",
    "enqueue, listenQueue: does not enqueue a message if a check fails",
    "enqueue, listenQueue: does not list messages among the entries",
    "enqueue, listenQueue: copies a message when it is passed in",
    "enqueue, listenQueue: delivers a delayed message after its delay",
    "enqueue, listenQueue: delivers a message again if its handler throws",
    "enqueue, listenQueue: delivers a message again if its handler rejects",
    "enqueue, listenQueue: does not deliver a message again after its handler succeeds",
    "enqueue, listenQueue: waits between deliveries as the schedule says",
    "enqueue, listenQueue: listenQueue resolves when the database is closed",
  ],
  "It has one backoffSchedule for all messages": [
    "enqueue, listenQueue: stores a message under its keys after the last retry of its schedule",
    "enqueue, listenQueue: delivers once with an empty schedule, then stores the message",
    "enqueue, listenQueue: drops an undelivered message without keys",
  ],
  "Deno KV does not report to watches what its queue stores": [
    "enqueue, listenQueue: reports a stored message to a watch",
  ],
  "Its listenQueue rejects if the end of a delivery can no longer be stored": [
    "enqueue, listenQueue: listenQueue resolves if the database is closed during a delivery",
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
    "error codes: KW_KEY_INVALID",
    "error codes: KW_VALUE_UNSUPPORTED, with the path to the part",
    "error codes: KW_VERSIONSTAMP_INVALID",
    "error codes: KW_SELECTOR_INVALID",
    "error codes: KW_VALUE_NOT_U64, with the operation",
    "error codes: KW_OPTION_INVALID, with the name of the option",
    "error codes: KW_COMMIT_MISSING",
    "error codes: KW_DATABASE_CLOSED",
  ],
};

/** The reason of each test that fails. */
export const denoClientDifferences: Readonly<Record<string, string>> = reasons(ofDenoKv);
export const denoRuntimeDifferences: Readonly<Record<string, string>> = reasons(ofDeno);

function reasons(testsByReason: Readonly<Record<string, readonly string[]>>) {
  return Object.fromEntries(
    Object.entries(testsByReason).flatMap(([reason, names]) => names.map((name) => [name, reason])),
  );
}
