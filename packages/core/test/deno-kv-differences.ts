/** Reasons, each with the tests of the Kv contract that fail for it. */
type TestsByReason = Readonly<Record<string, readonly string[]>>;

/** What both Denos do. */
const ofBoth: TestsByReason = {
  "Deno KV compares versionstamps as bytes, and takes undefined for null": [
    "atomic: a string with an upper-case digit is no versionstamp",
    "atomic: undefined is no versionstamp",
    "atomic: what is no versionstamp is refused with a TypeError",
  ],
  "Deno KV looks at part of the input at the commit only, or never": [
    "atomic: bad input throws as it is handed over, and adds nothing to the operation",
    "sum, min, max: a sum of a bigint is no mutation",
    "sum, min, max: a sum of a number is no mutation",
    "sum, min, max: what is no mutation is refused with a TypeError",
    "enqueue, listenQueue: an undelivered key of no parts is refused",
    "enqueue, listenQueue: what is no option is refused with a TypeError",
    "get, set, delete: what is no key is refused with a TypeError",
    "list selectors and cursors: what is no selector, option or cursor is refused with a TypeError",
    "list selectors and cursors: a cursor from outside the selector's range is refused",
  ],
  "Deno KV stores another character for a lone surrogate, so that two keys become one": [
    "get, set, delete: an array with a lone surrogate is no key",
    "get, set, delete: an array with a lone surrogate is no key to check",
    "list selectors and cursors: a prefix with a lone surrogate is no selector",
    "watch: an array with a lone surrogate is no key",
  ],
  "Deno KV stores the object within another as one of no class": [
    "get, set, delete: a KvU64 is a value of its own, and no part of another",
  ],
  "Deno KV gives the caller's own array back as the entry's key": [
    "get, set, delete: the key of an entry is the one that was asked for, whatever becomes of it",
  ],
  "Deno KV reads at most 10 keys at once": ["getMany: takes a thousand keys"],
  "Deno KV reads more or less at once than its documentation says": [
    "list options and iterators: a batch is as large as the limit, or 100, and never larger than 500",
  ],
  "Deno KV answers calls that overlap with the same entry, or with none": [
    "list options and iterators: calls of next that overlap get an entry each, in their order, from batches of 1",
  ],
  "In Deno KV an iterator without an entry has no cursor": [
    "list selectors and cursors: an iterator's cursor is empty before its first entry, or the one it began with",
  ],
  "Deno KV sorts bigints before numbers": [
    "list selectors and cursors: parts are in the order of their types, as the specification lists them",
  ],
  "In Deno KV what stands in a commit before a sum that is refused is written": [
    "sum, min, max: are refused where a bigint is stored, and nothing of the commit is written",
    "sum, min, max: are refused where a number is stored, and nothing of the commit is written",
    "sum, min, max: are refused where eight bytes is stored, and nothing of the commit is written",
    "sum, min, max: are refused where null is stored, and nothing of the commit is written",
    "sum, min, max: that are refused leave the commits beside them alone",
  ],
  "In Deno KV an expired entry is there until it is cleared away, up to a minute later": [
    "expireIn: a commit that is refused leaves it as it was",
    "expireIn: a set as data expires too",
    "expireIn: an expired entry is not got",
    "expireIn: an expired entry is not listed, and does not count for a limit",
    "expireIn: an expired key is absent for a check",
    "expireIn: setting a key again sets its time anew",
    "expireIn: sum, min and max begin anew where an entry has expired",
    "watch: reports an expired key as absent",
    "watch: reports that a key expires, without a commit that would tell of it",
  ],
  "Deno KV does not tell when an entry expires": ["expireIn: an entry tells when it expires"],
  "Deno KV's watches are not told of what its queue stores": [
    "enqueue, listenQueue: a watch is told of a message that is stored",
  ],
  "Deno KV ends what is under way when it is closed": [
    "close: waits for the commits that were begun",
  ],
  "Deno KV still answers from the batch that it has read": [
    "close: refuses also what an iterator has read already",
  ],
  "In Deno KV a second close is an error": ["close: may be called again"],
  "Deno KV closes at once, and is no AsyncDisposable": [
    "close: is what Symbol.asyncDispose does, and waits for",
  ],
  "The codes are Keywright's own": [
    "error codes: KW_COMMIT_MISSING",
    "error codes: KW_DATABASE_CLOSED",
    "error codes: KW_KEY_INVALID",
    "error codes: KW_OPTION_INVALID, with the name of the option",
    "error codes: KW_SELECTOR_INVALID",
    "error codes: KW_VALUE_NOT_U64, with the operation",
    "error codes: KW_VALUE_UNSUPPORTED, with the path to the culprit",
    "error codes: KW_VERSIONSTAMP_INVALID",
  ],
};

/** What only `Deno.openKv()` does. */
const ofDeno: TestsByReason = {
  "Deno takes 0, which expires at once": ["expireIn: 0 is no time"],
  "Deno does not check the expireIn of mutate()": [
    "expireIn: a string is no time",
    "expireIn: null is no time",
  ],
  "Deno takes an empty key where it reads: nothing is there": [
    "get, set, delete: an empty array is no key",
    "watch: an empty array is no key",
  ],
  "Deno's iterators have no return()": [
    "list options and iterators: an iterator is done for good, and can be left anywhere",
    "list options and iterators: calls of next before a return are answered, and none after it",
  ],
  "Deno answers calls that overlap with the same entry": [
    "list options and iterators: calls of next that overlap get an entry each, in their order, from batches of 2",
    "list options and iterators: calls of next that overlap get an entry each, in their order, from batches of 3",
    "list options and iterators: calls of next that overlap get an entry each, in their order, from batches of 100",
  ],
  "In Deno the cursor of an iterator that is done is empty, which begins anew": [
    "list options and iterators: pages by cursor and limit are all entries once, beside inserts and deletions",
  ],
  "Deno takes a cursor with padding": [
    "list selectors and cursors: a cursor that no iterator gave is refused",
  ],
  "In Deno the cursor of a key is empty that equals what all keys of the range begin with": [
    "list selectors and cursors: a start that its end extends: a cursor resumes behind each entry",
    "list selectors and cursors: a start that its end extends: a cursor resumes behind each entry in reverse",
  ],
};

/** What only `@deno/kv` does. */
const ofDenoKv: TestsByReason = {
  "It takes an empty versionstamp for null": ["atomic: an empty string is no versionstamp"],
  "It encodes values at the commit only": ["atomic: copies its values when they are handed over"],
  "An atomic operation can be awaited: it is its own result": [
    "atomic: is no promise: it cannot be awaited by mistake",
  ],
  "It has no commitVersionstamp()": [
    "commitVersionstamp: as the last part is the versionstamp of the commit",
    "commitVersionstamp: is no other symbol",
    "commitVersionstamp: is refused anywhere but as the last part of a key to set",
    "commitVersionstamp: is taken in a set as data",
    "commitVersionstamp: is the same for all keys of a commit, beside other changes",
    "commitVersionstamp: keys are in the order of their commits",
    "commitVersionstamp: stores nothing where a check fails",
  ],
  "It does not check the options of enqueue": [
    "enqueue, listenQueue: a delay of more than 30 days is refused",
    "enqueue, listenQueue: a delay that is a string is refused",
    "enqueue, listenQueue: a negative delay is refused",
    "enqueue, listenQueue: a schedule of six retries is refused",
    "enqueue, listenQueue: a schedule with NaN is refused",
    "enqueue, listenQueue: a schedule with a negative time is refused",
    "enqueue, listenQueue: a schedule with more than an hour is refused",
  ],
  "It has one backoffSchedule for all messages": [
    "enqueue, listenQueue: a message is delivered as often as its schedule says, then stored",
    "enqueue, listenQueue: a message that fails for good without keys leaves nothing",
    "enqueue, listenQueue: with an empty schedule a message is delivered once, then stored",
  ],
  "Its listenQueue rejects where the message can no longer be finished": [
    "enqueue, listenQueue: listenQueue resolves also where the database is closed while a message is handled",
  ],
  "It throws an Error where Deno throws a TypeError or RangeError": [
    "enqueue, listenQueue: what is no value is refused with a TypeError",
    "get, set, delete: what is no value is refused with a TypeError",
    "sum, min, max: are refused with a TypeError where another value is stored",
    "sum, min, max: refuse with a RangeError what 64 bits do not hold, and another type with a TypeError",
    "watch: an array with null is no key",
  ],
  "It takes -0 in a key for 0": [
    "get, set, delete: 0 and -0 are different keys",
    "list selectors and cursors: parts of one type are in the order of their values",
  ],
  "It does not look at the key of a check": ["get, set, delete: an empty array is no key to check"],
  "It answers bytes as a Buffer": [
    "get, set, delete: bytes come back as a Uint8Array and nothing more",
  ],
  "In reverse it counts the key that equals the prefix among those under it": [
    "list selectors and cursors: a longer prefix selects its entries in reverse",
    "list selectors and cursors: a longer prefix: a cursor resumes behind each entry in reverse",
    "list selectors and cursors: a prefix selects its entries in reverse",
    "list selectors and cursors: a prefix: a cursor resumes behind each entry in reverse",
    "list selectors and cursors: a prefix and an end selects its entries in reverse",
    "list selectors and cursors: a prefix and an end: a cursor resumes behind each entry in reverse",
    "list selectors and cursors: a prefix and an end under another key selects its entries in reverse",
    "list selectors and cursors: a prefix and an end under another key: a cursor resumes behind each entry in reverse",
    "list options and iterators: limit is the number of entries at the most",
  ],
  "It takes an empty cursor for one that is wrong": [
    "list selectors and cursors: an empty cursor is none",
  ],
  "It reads a batch for ever whose one entry is the key that equals the prefix": [
    "list selectors and cursors: batches of one entry have the same entries",
  ],
  "It does not look at the value of mutate()": [
    "sum, min, max: a delete with a value is no mutation",
    "sum, min, max: a set without a value is no mutation",
  ],
  "What stands in a commit before a sum without a value is written": [
    "sum, min, max: a sum without a value is no mutation",
  ],
  "Its watches do not report that nothing is there before there has been something": [
    "watch: reports first also that there is nothing",
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
