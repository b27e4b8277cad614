/** The names of tests by reason. A name that ends in `*` stands for all names that begin so. */
type NamesByReason = Readonly<Record<string, readonly string[]>>;

/** True if the list has the name. */
export function isListed(list: NamesByReason, name: string): boolean {
  return Object.values(list)
    .flat()
    .some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : name === each));
}

/** Cases of `golden/deno-cases.mjs` whose outcome in compat mode is not that of Deno KV. */
export const denoCompatDifferences: NamesByReason = {
  "Deno replaces a lone surrogate by U+FFFD, so that two keys become one; here it is refused": [
    "a lone surrogate: *",
  ],
  "Deno stores a Blob without its bytes, which a new process cannot read": [
    "a Blob: that is too large",
  ],
  "A message of bytes in shared memory is copied; Deno refuses it": [
    "a view of shared memory: in a message*",
  ],
};

/** Tests of the Kv contract that Deno KV fails and compat mode passes. */
export const denoContractTestsPassed: NamesByReason = {
  "An expired entry is absent": [
    "expireIn: a refused commit does not change the expiry time",
    "expireIn: an entry expires if its set is passed as data",
    "expireIn: an expired *",
    "expireIn: setting a key again replaces its expiry time",
    "expireIn: sum, min and max treat an expired entry as absent",
    "watch: reports an expired key as absent",
    "watch: reports that a key expires without a commit",
  ],
  "An entry has its expiry time": ["expireIn: an entry has its expiry time"],
  "A lone surrogate is refused": [
    "get, set, delete: refuses an array with a lone surrogate *",
    "get, set, delete: refuses a check of an array with a lone surrogate *",
    "list selectors and cursors: refuses a prefix with a lone surrogate *",
    "watch: refuses an array with a lone surrogate *",
  ],
  "The key of an entry is a copy": [
    "get, set, delete: returns a copy of the requested key in an entry",
  ],
  "Overlapping calls of next get one entry each": [
    "list options and iterators: overlapping calls of next *",
  ],
  "A commit with a refused sum writes nothing": [
    "sum, min, max: refuse the whole commit if *",
    "sum, min, max: do not affect concurrent commits if they are refused",
  ],
  "A watch reports what the queue stores": [
    "enqueue, listenQueue: reports a stored message to a watch",
  ],
  "close() waits for unfinished commits": [
    "close: waits for commits that have begun",
    "close: is called and awaited by Symbol.asyncDispose",
  ],
  "Errors have codes": [
    "error codes: KW_COMMIT_MISSING",
    "error codes: KW_OPTION_INVALID, with the name of the option",
    "error codes: KW_VALUE_NOT_U64, with the operation",
  ],
};
