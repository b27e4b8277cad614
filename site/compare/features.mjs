/** What Keywright does, each with a test that fails if it no longer does. */
export const features = {
  compiled: feature(
    "A query without an index",
    "is a type error that says which index to declare",
    "docs/test/readme.test.ts",
    "the compiler says of the query without an index what the page says",
  ),
  entries: feature(
    "Index entries",
    "change in the same atomic commit as the row",
    "packages/orm/src/testing.ts",
    "creates, finds, changes and deletes a row with its entries",
  ),
  unique: feature(
    "A unique value that is taken",
    "is an error with the index, the value and the row that has it",
    "packages/orm/src/testing.ts",
    "lets one of many have a unique value, and tells the others who has it",
  ),
  build: feature(
    "A new index on existing rows",
    "is built while programs write, and verified",
    "packages/orm/test/slow/build-beside-writers.test.ts",
    "builds two indexes while 16 programs write, which see no error",
  ),
  oldPrograms: feature(
    "A program with an old schema",
    "cannot write rows that do not fit",
    "packages/orm/test/transform.test.ts",
    "an old program's write is refused, and it damages nothing",
  ),
  transactions: feature(
    "Transactions",
    "are strictly serializable, and run again after a conflict",
    "packages/orm/test/serializable.test.ts",
    "lets 3 of 16 book the last 3 seats",
  ),
  cascade: feature(
    "Deletes of rows that others refer to",
    "cascade, clear or are refused, in one commit",
    "packages/orm/test/cascade.test.ts",
    "takes along, clears or is forbidden by who refers to the row, in one commit",
  ),
  live: feature(
    "Live queries",
    "give the rows again when a commit changes them",
    "packages/orm/test/live.test.ts",
    "gives rows at once, and when one comes, changes, moves or goes",
  ),
  scopes: feature(
    "Rows of one tenant",
    "a scope bounds every read and write",
    "packages/orm/test/scopes.test.ts",
    "bounds every read, by keys without its fields",
  ),
  history: feature(
    "History of a row",
    "from the log of commits, if the database keeps one",
    "packages/orm/test/row-history.test.ts",
    "has each change of a row with the row before and after, in the order of commits",
  ),
  backup: feature(
    "Backups while programs write",
    "in parts, and restored to any moment",
    "packages/core/test/backup.test.ts",
    "has each moment between its commits",
  ),
  totals: feature(
    "Totals of groups",
    "are declared, and read one entry for each group",
    "packages/orm/test/aggregates.test.ts",
    "read one entry for each group and limb, and no rows",
  ),
  adHoc: feature(
    "Questions that nobody planned for",
    "no: a condition without an index needs a scan of the table",
    "packages/orm/test/relation-filter-cases.test.ts",
    "refuses conditions that no index serves, and names the index to add",
  ),
};

function feature(title, text, file, test) {
  return { title, text, file, test };
}
