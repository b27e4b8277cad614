import { MemoryLevel } from "memory-level";

/**
 * The storage in memory, whose calls wait before and after they take effect. `delay` is called for
 * each wait with the name of the call, and can be changed at any time.
 */
export class DelayedLevel extends MemoryLevel {
  delay = async (_name) => undefined;

  /** @param readsSync true if point reads do not wait, as in the database on disk. */
  constructor(readsSync) {
    super({ keyEncoding: "view", valueEncoding: "view", storeEncoding: "view" });
    if (!readsSync) this.supports.getSync = false;
  }

  async _get(key, options) {
    return await this.#delayed("get", () => super._get(key, options));
  }

  async _getMany(keys, options) {
    return await this.#delayed("getMany", () => super._getMany(keys, options));
  }

  async _batch(operations, options) {
    return await this.#delayed("batch", () => super._batch(operations, options));
  }

  _iterator(options) {
    const iterator = super._iterator(options);
    const next = iterator._nextv.bind(iterator);
    iterator._nextv = async (size, settings) => {
      await this.delay("list");
      return await next(size, settings);
    };
    return iterator;
  }

  async #delayed(name, call) {
    await this.delay(`${name} begins`);
    const result = await call();
    await this.delay(`${name} ends`);
    return result;
  }
}
