import { Buffer } from "node:buffer";
import type { KeyRange } from "@keywright/core";
import { firstSystemKey, visibleRange } from "@keywright/core/engine";

/** The first byte of the database's own keys. No encoded key of a user's entry begins with it. */
const own = 0x00;
const headerTag = 0x01;
const engineTag = 0x02;
const reservationTag = 0x01;
const sessionTag = 0x02;
const sweepTag = 0x03;

/**
 * The keys of one database in etcd. Each begins with the prefix of the database and a zero byte, so
 * that no database contains the keys of another one.
 */
export class KeySpace {
  readonly #prefix: Buffer;
  readonly header: Buffer;
  /** Present while a commit has reserved a revision. */
  readonly reservation: Buffer;
  readonly all: { readonly key: Buffer; readonly rangeEnd: Buffer };
  readonly sessions: { readonly key: Buffer; readonly rangeEnd: Buffer };
  /** Written whenever records of sessions are removed. It is the first key after them. */
  readonly sweep: Buffer;

  /** @param prefix a text without a zero character. */
  constructor(prefix: string) {
    const name = Buffer.from(prefix);
    this.#prefix = Buffer.concat([name, Buffer.of(0)]);
    this.header = this.keyOf(Buffer.of(own, headerTag));
    this.reservation = this.keyOf(Buffer.of(own, engineTag, reservationTag));
    this.all = { key: this.#prefix, rangeEnd: Buffer.concat([name, Buffer.of(1)]) };
    this.sessions = {
      key: this.keyOf(Buffer.of(own, engineTag, sessionTag)),
      rangeEnd: this.keyOf(Buffer.of(own, engineTag, sweepTag)),
    };
    this.sweep = this.sessions.rangeEnd;
  }

  /** Returns the key in etcd of a key of the database. */
  keyOf(key: Uint8Array): Buffer {
    return Buffer.concat([this.#prefix, key]);
  }

  /** Returns the key of the database for a key in etcd. The bytes are a view. */
  entryKeyOf(key: Buffer): Buffer {
    return key.subarray(this.#prefix.length);
  }

  /** Returns the next key in etcd after `key`. */
  after(key: Buffer): Buffer {
    return Buffer.concat([key, Buffer.of(0)]);
  }

  sessionOf(id: Uint8Array): Buffer {
    return Buffer.concat([this.sessions.key, id]);
  }

  /** True if readers of the database never see the key: the header and the engine's own keys. */
  isHidden(entryKey: Uint8Array): boolean {
    return Buffer.compare(entryKey, firstSystemKey) < 0;
  }

  /** Returns the range in etcd of a range of the database. */
  rangeOf(range: KeyRange): { readonly key: Buffer; readonly rangeEnd: Buffer } {
    const { start, end } = visibleRange(range);
    return { key: this.keyOf(start), rangeEnd: this.keyOf(end) };
  }
}
