/** The maximum number of entries of a leaf, and of children of a branch. */
const most = 64;

/** The keys of a range: `start` inclusive, `end` exclusive. */
export interface VisitedRange {
  readonly start: string;
  readonly end: string;
  /** True to visit from the end of the range backwards. */
  readonly reverse: boolean;
}

/** The reads of a map, or of one state of it. */
export interface OrderedState<Value> {
  get(key: string): Value | undefined;

  /**
   * Calls `visitor` with the values of a range in the order of their keys until it returns false.
   */
  visit(range: VisitedRange, visitor: (value: Value) => boolean): void;
}

/**
 * A map in the order of its keys. It is a B+ tree, whose nodes are copied when they change if a
 * state contains them. So `state` takes no time, and each change after it copies a few nodes.
 *
 * A node that becomes empty is removed. Nodes with few entries are not merged.
 */
export class OrderedMap<Value> implements OrderedState<Value> {
  /** Marks the nodes that no state contains. */
  #owner: object = {};
  #root: Node<Value> = new Node(this.#owner, 0, [], []);

  get(key: string): Value | undefined {
    return this.#root.get(key);
  }

  visit(range: VisitedRange, visitor: (value: Value) => boolean): void {
    this.#root.visit(range, visitor);
  }

  set(key: string, value: Value): void {
    this.#root = this.#root.ownedBy(this.#owner);
    const right = this.#root.set(key, value);
    if (right === undefined) return;
    const keys = [this.#root.keys[0]!, right.keys[0]!];
    this.#root = new Node(this.#owner, this.#root.height + 1, keys, [this.#root, right]);
  }

  delete(key: string): void {
    if (this.#root.get(key) === undefined) return;
    this.#root = this.#root.ownedBy(this.#owner);
    this.#root.delete(key);
    while (this.#root.height > 0 && this.#root.items.length === 1)
      this.#root = this.#root.items[0] as Node<Value>;
  }

  /** Returns the present state. It stays as it is when the map changes. */
  state(): OrderedState<Value> {
    this.#owner = {};
    return this.#root;
  }
}

class Node<Value> implements OrderedState<Value> {
  /** Whoever has this object may change the node. */
  readonly owner: object;
  /** The number of levels below the node: 0 for a leaf. */
  readonly height: number;
  /**
   * The keys of the entries. In a branch, the keys in a child are not below the child's key here,
   * except that the first child also gets lower keys.
   */
  readonly keys: string[];
  /** The values of the entries. In a branch, the children. */
  readonly items: (Value | Node<Value>)[];

  constructor(owner: object, height: number, keys: string[], items: (Value | Node<Value>)[]) {
    this.owner = owner;
    this.height = height;
    this.keys = keys;
    this.items = items;
  }

  get(key: string): Value | undefined {
    let node: Node<Value> = this;
    while (node.height > 0) node = node.items[node.childAt(key)] as Node<Value>;
    const index = firstNotBelow(node.keys, key);
    return node.keys[index] === key ? (node.items[index] as Value) : undefined;
  }

  /** @returns false if the visitor has. */
  visit(range: VisitedRange, visitor: (value: Value) => boolean): boolean {
    const { start, end, reverse } = range;
    const isLeaf = this.height === 0;
    const first = isLeaf ? firstNotBelow(this.keys, start) : this.childAt(start);
    const last = isLeaf ? firstNotBelow(this.keys, end) - 1 : this.childAt(end);
    const step = reverse ? -1 : 1;
    for (let i = reverse ? last : first; i >= first && i <= last; i += step) {
      const item = this.items[i]!;
      const goesOn = isLeaf ? visitor(item as Value) : (item as Node<Value>).visit(range, visitor);
      if (!goesOn) return false;
    }
    return true;
  }

  /** Returns the node, or a copy if it has another owner. */
  ownedBy(owner: object): Node<Value> {
    if (this.owner === owner) return this;
    return new Node(owner, this.height, this.keys.slice(), this.items.slice());
  }

  /** Returns the right half of the node if it was split. */
  set(key: string, value: Value): Node<Value> | undefined {
    if (this.height === 0) {
      const index = firstNotBelow(this.keys, key);
      if (this.keys[index] === key) {
        this.items[index] = value;
        return undefined;
      }
      return this.#insert(index, key, value);
    }
    const index = this.childAt(key);
    const right = this.#ownedChild(index).set(key, value);
    return right && this.#insert(index + 1, right.keys[0]!, right);
  }

  /** The key must be in the node or below it. */
  delete(key: string): void {
    if (this.height === 0) {
      const index = firstNotBelow(this.keys, key);
      this.keys.splice(index, 1);
      this.items.splice(index, 1);
      return;
    }
    const index = this.childAt(key);
    const child = this.#ownedChild(index);
    child.delete(key);
    if (child.items.length > 0) return;
    this.items.splice(index, 1);
    // If the first child is removed, the second one gets its key and the lower ones.
    this.keys.splice(index === 0 ? 1 : index, 1);
  }

  /** Returns the index of the child in which a key is, or would be. */
  childAt(key: string): number {
    let low = 1;
    let high = this.keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keys[middle]! <= key) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #ownedChild(index: number): Node<Value> {
    const child = (this.items[index] as Node<Value>).ownedBy(this.owner);
    this.items[index] = child;
    return child;
  }

  #insert(index: number, key: string, item: Value | Node<Value>): Node<Value> | undefined {
    this.keys.splice(index, 0, key);
    this.items.splice(index, 0, item);
    if (this.items.length <= most) return undefined;
    const half = most >>> 1;
    const keys = this.keys.splice(half);
    return new Node(this.owner, this.height, keys, this.items.splice(half));
  }
}

/** Returns the index of the first key that is not below `key`. */
function firstNotBelow(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
