import type { Buffer } from "node:buffer";
import type { RootDatabase, Transaction } from "lmdb";

/** The options of a read. The types of `lmdb` do not know them for every method. */
export interface ReadOptions {
  readonly transaction?: Transaction;
}

/** The keys and values of an LMDB file, as bytes. */
export type LmdbStore = RootDatabase<Buffer, Uint8Array> & {
  getBinaryFast(key: Uint8Array, options: ReadOptions): Buffer | undefined;
};
