import type { Kv } from "../../kv/kv.js";
import { KvU64 } from "../../values/kv-u64.js";
import type { ContractAdapter, ContractStore, TestGroup } from "../contract.js";

/** A class for the values that `sum`, `min` and `max` work on. */
export type KvU64Class = new (value: bigint) => { readonly value: bigint };

/** A database for one test. */
export interface KvStore extends ContractStore {
  /** The database, open and empty. */
  readonly kv: Kv;
  /**
   * Closes the database and opens what it has stored again; the store's `kv` need not be the new one. Only with the
   * capability "reopen".
   */
  reopen?(): Promise<Kv>;
}

/** What a database may be able to do that not every one is. */
export type KvCapability = "reopen";

/** How the contract is run on a database. */
export interface KvAdapter extends ContractAdapter<KvStore> {
  readonly capabilities?: readonly KvCapability[];
  /** Its own class of `KvU64`, where that is not the one of this package. */
  readonly KvU64?: KvU64Class;
}

/** What a test of the contract is given. */
export interface KvTestStore extends ContractStore {
  readonly kv: Kv;
  readonly KvU64: KvU64Class;
  reopen(): Promise<Kv>;
}

export type KvTestGroup = TestGroup<KvTestStore>;

/** The adapter as the tests see it. */
export function testAdapter(adapter: KvAdapter): ContractAdapter<KvTestStore> {
  return {
    ...adapter,
    create: async () => {
      const store = await adapter.create();
      return {
        kv: store.kv,
        KvU64: adapter.KvU64 ?? KvU64,
        reopen: async () => {
          if (store.reopen === undefined) throw new Error("the store has no reopen()");
          return await store.reopen();
        },
        dispose: () => store.dispose(),
      };
    },
  };
}
