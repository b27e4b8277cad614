import type { AtomicCheck, KvMutation } from "@keywright/core";

/** What a commit has to check and to write beside a row and its index entries. */
export interface CommitExtras {
  readonly checks: readonly AtomicCheck[];
  readonly mutations: readonly KvMutation[];
}
