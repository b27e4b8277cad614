import { ClassicLevel } from "classic-level";

/** The methods that abstract-level calls, and classic-level implements. The types lack them. */
interface NativeIterator {
  _nextv(size: number, options: object): Promise<[Uint8Array, Uint8Array][]>;
}
interface NativeLevel {
  _iterator(options: { readonly limit?: number }): NativeIterator;
}

const { _iterator: nativeIterator } = ClassicLevel.prototype as unknown as NativeLevel;

/**
 * A LevelDB database whose iterators report damage also when they reach their limit.
 *
 * LevelDB skips a block that it cannot read, and classic-level reports this only when an iterator
 * reaches its end. An iterator that has returned as many entries as requested has not looked for
 * its end yet. So each batch requests one entry more than the limit allows: then the iterator looks
 * for its end.
 */
export class CheckingLevel extends ClassicLevel<Uint8Array, Uint8Array> {
  protected _iterator(options: { readonly limit?: number }): NativeIterator {
    const iterator = nativeIterator.call(this as unknown as NativeLevel, options);
    if (options.limit === undefined || options.limit < 0) return iterator;
    const nextv = iterator._nextv.bind(iterator);
    iterator._nextv = (size, nextOptions) => nextv(size + 1, nextOptions);
    return iterator;
  }
}
