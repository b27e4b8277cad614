/** The limits of the promises, each with the page that explains it. */
export const notPromised = [
  "A disk that loses what it has reported as synced, or a file system that does not keep the order of a renaming and a later deletion in one folder, may lose acknowledged commits ([limits](internals/commit-protocol.md#limits)).",
  'With `durability: "relaxed"`, a power failure may lose the last commits. The database may then refuse to open until `keywright repair` has cut it back ([repair](database.md#repair-a-database)).',
  "After a killed process or a power failure, damage at the very end of the log looks like an interrupted write. It hides the last group of commits, or as many as the damage is long ([damaged files](database.md#damaged-files)).",
  "A flipped bit in a key of a table hides its entry until the check of the files has reached it. With `checkFiles: false`, and on an abstract-level database that the program has created itself, no check of the files is made.",
  "Damage of a table that LevelDB compacts before it is checked gets new checksums, and no check of the files finds it any longer. `keywright verify` compares rows and index entries in any case.",
  "A table that is truncated while the database is open ends the process with SIGBUS, because LevelDB maps tables into memory. Damaged pages of the tree of LMDB end the process too.",
  "A commit whose acknowledgement was lost can be found again as long as it is one of the last 32,768 groups ([commit records](adr/0004-commit-records.md)).",
  "After a write that the operating system has refused, the database accepts no commits until it is opened again.",
  "In a transaction on a database that cannot check ranges, such as Deno KV, a key that another commit adds to a range that was listed (a phantom) is not noticed, unless that commit also writes a key that the transaction has read ([where it works](transactions.md#where-it-works)).",
  "A message of the queue is delivered at least once, so it may be delivered again after a crash. Entries that expire are removed some time after they have expired.",
  "One value is encoded in one go, about 5 ms for each MB, in which the process does nothing else. Split large values. A commit of many mutations lets other work of the process run in between.",
  "What the operating system, the disk and the memory do beyond this, and programs that write to the files or under the key `__keywright` themselves, are not part of the promises.",
];
