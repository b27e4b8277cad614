import type { Kv } from "../../kv/kv.js";
import { KvU64 } from "../../values/kv-u64.js";
import type { ContractAdapter, ContractStore, TestGroup } from "../contract.js";

/** A class of the values that `sum`, `min` and `max` work on. */
export type KvU64Class = new (value: bigint) => { readonly value: bigint };

/** A database for one test. */
export interface KvStore extends ContractStore {
  readonly kv: Kv;
  /**
   * Closes the database and returns a new one that is open on the same data. `kv` may stay the old
   * one. Needed only with the capability "reopen".
   */
  reopen?(): Promise<Kv>;
}

export type KvCapability = "reopen";

export interface KvAdapter extends ContractAdapter<KvStore> {
  readonly capabilities?: readonly KvCapability[];
  /** The `KvU64` class of the database, if it is not that of this package. */
  readonly KvU64?: KvU64Class;
}

export interface KvTestStore extends ContractStore {
  readonly kv: Kv;
  readonly KvU64: KvU64Class;
  reopen(): Promise<Kv>;
}

export type KvTestGroup = TestGroup<KvTestStore>;

/** Returns an adapter that creates stores for the tests. Fills in `KvU64` and `reopen`. */
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
