/** How many names are known at most. Then all are forgotten, and learned again. */
const mostNames = 2048;
/** Longer names are not learned. In bytes, with the tag. */
const mostBytes = 64;
/** How many names are known at most that follow the same name. */
const mostFollowing = 8;
/** If a name has that many, one of so many others replaces one of them. */
const replacedEvery = 16;

/**
 * The name of a property, after certain names before it. The names of an object are a path in a
 * tree of these. Rows of one model have the same path. The name that came last after another one
 * is therefore nearly always the one that comes next, and comparing its bytes is enough to know it.
 */
export interface PropertyName {
  readonly name: string;
  /** The name as MessagePack stores it. */
  readonly bytes: Uint8Array;
  readonly following: PropertyName[];
  /** The name that followed this one last. */
  last: PropertyName | undefined;
  /** How many names were not learned because there are enough of them. */
  unlearned: number;
}

const start = propertyName("", new Uint8Array(0));
let count = 0;

/** Returns what comes before the first name of an object. */
export function noName(): PropertyName {
  return start;
}

function propertyName(name: string, bytes: Uint8Array): PropertyName {
  return { name, bytes, following: [], last: undefined, unlearned: 0 };
}

/** Returns the name that follows `previous` and is in `source` at `offset`, if it is known. */
export function nameAt(
  previous: PropertyName,
  source: Uint8Array,
  offset: number,
): PropertyName | undefined {
  const { last } = previous;
  if (last === undefined) return undefined;
  return isAt(last, source, offset) ? last : otherNameAt(previous, source, offset);
}

function otherNameAt(
  previous: PropertyName,
  source: Uint8Array,
  offset: number,
): PropertyName | undefined {
  for (const name of previous.following) {
    if (!isAt(name, source, offset)) continue;
    previous.last = name;
    return name;
  }
  return undefined;
}

function isAt({ bytes }: PropertyName, source: Uint8Array, offset: number): boolean {
  for (let i = 0; i < bytes.length; i++) if (source[offset + i] !== bytes[i]) return false;
  return true;
}

/**
 * Remembers that a name followed `previous`.
 *
 * @param item the name as MessagePack stores it. It is copied.
 * @returns undefined if the name is not learned.
 */
export function learnName(
  previous: PropertyName,
  name: string,
  item: Uint8Array,
): PropertyName | undefined {
  if (item.length > mostBytes) return undefined;
  const { following } = previous;
  if (following.length === mostFollowing && ++previous.unlearned % replacedEvery !== 0)
    return undefined;
  if (++count > mostNames) forgetNames();
  const learned = propertyName(name, new Uint8Array(item));
  if (following.length === mostFollowing) following.shift();
  following.push(learned);
  previous.last = learned;
  return learned;
}

function forgetNames(): void {
  start.following.length = 0;
  start.last = undefined;
  count = 0;
}
