export const about = {
  title: "The same results as Deno KV and SQLite",
  promise:
    'With `compat: "deno"`, a program has the results that it has on Deno KV. A query has the rows, in the order, that the same statement has in SQL. A search finds the rows that have its words.',
  method:
    "Random calls of the key-value database are made with the package `@deno/kv` too: values of all kinds, keys with all kinds of parts, also malformed ones, checks, numbers, and lists in both directions with limits and cursors. Random calls of a model with five indexes, one of which has a condition, are made as statements of SQLite too: rows are created, updated and deleted, and found by equal values, ranges and lists in all orders, page by page. Random notes are written, so many that segments of the text index are merged, and searches are compared with a look at each note. After each call, the results must be equal.",
  limits:
    "Errors are compared only as errors, because `@deno/kv` has other classes of errors than Deno. It also returns -0 in a key as 0, lists a prefix itself in some cases, and does not end some lists that have a limit. Deno does none of this, so the comparison avoids it.",
  short: "2,000 calls of each kind, and 3,600 with searches",
  command: "npm run soak:differential -- --calls 1000000",
  goals: [
    {
      unit: "calls of each kind",
      asked: 1_000_000,
      cpuSeconds: 0.0023,
      ran: ({ kvCalls, queryCalls }) => Math.min(kvCalls, queryCalls),
    },
  ],
};
