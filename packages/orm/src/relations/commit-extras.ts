import type { AtomicCheck, KvMutation } from "@keywright/core";

/** The checks and mutations of a commit, except those of the row and its index entries. */
export interface CommitExtras {
  readonly checks: readonly AtomicCheck[];
  readonly mutations: readonly KvMutation[];
}
