/** Reasons, each with names of tests. A name that ends in `*` stands for all that begin so. */
type NamesByReason = Readonly<Record<string, readonly string[]>>;

/** Whether a name is one of those that are listed. */
export function isListed(list: NamesByReason, name: string): boolean {
  return Object.values(list)
    .flat()
    .some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : name === each));
}

/** Cases of `golden/deno-cases.mjs` whose outcome in compat mode is not that of Deno KV. */
export const denoCompatDifferences: NamesByReason = {
  "Deno stores another character for a lone surrogate, so that two keys become one; here it is refused":
    ["a lone surrogate: *"],
  "Deno adds up numbers and bigints too, which its documentation does not tell; here only a KvU64":
    [
      "mutate sum with: a number, on *",
      "mutate sum with: a bigint, on *",
      "mutate: sum with a number for KvU64",
    ],
  "Bytes in shared memory are copied, where Deno refuses a message of them": [
    "a view of shared memory: in a message*",
  ],
};

/** Tests of the Kv contract that Deno KV fails and compat mode passes. */
export const denoContractTestsPassed: NamesByReason = {
  "An entry is gone when it has expired": [
    "expireIn: a commit that is refused leaves it as it was",
    "expireIn: a set as data expires too",
    "expireIn: an expired *",
    "expireIn: setting a key again sets its time anew",
    "expireIn: sum, min and max begin anew where an entry has expired",
    "watch: reports an expired key as absent",
    "watch: reports that a key expires, without a commit that would tell of it",
  ],
  "An entry tells when it expires": ["expireIn: an entry tells when it expires"],
  "A lone surrogate is refused": [
    "get, set, delete: an array with a lone surrogate *",
    "list selectors and cursors: a prefix with a lone surrogate *",
    "watch: an array with a lone surrogate *",
  ],
  "The key of an entry is a copy": [
    "get, set, delete: the key of an entry is the one that was asked for, whatever becomes of it",
  ],
  "Calls of next that overlap get an entry each": [
    "list options and iterators: calls of next that overlap *",
  ],
  "A commit with a sum that is refused writes nothing": [
    "sum, min, max: are refused where *",
    "sum, min, max: that are refused leave the commits beside them alone",
  ],
  "A sum takes only a KvU64": [
    "sum, min, max: a sum of *",
    "sum, min, max: what is no mutation is refused with a TypeError",
  ],
  "A watch is told of what the queue stores": [
    "enqueue, listenQueue: a watch is told of a message that is stored",
  ],
  "close() waits for what was begun": [
    "close: waits for the commits that were begun",
    "close: is what Symbol.asyncDispose does, and waits for",
  ],
  "Errors have codes": [
    "error codes: KW_COMMIT_MISSING",
    "error codes: KW_OPTION_INVALID, with the name of the option",
    "error codes: KW_VALUE_NOT_U64, with the operation",
  ],
};
