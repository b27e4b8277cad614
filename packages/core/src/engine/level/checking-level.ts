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
 * A LevelDB database whose iterators report damage when they reach their limit: that of what they
 * have returned, and that of the next entry.
 *
 * LevelDB skips a block that it cannot read. classic-level reports it only when an iterator ends,
 * and an iterator that has returned as many entries as it was asked for has not tried to end. So
 * each batch asks for one entry more, which the limit prevents.
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
