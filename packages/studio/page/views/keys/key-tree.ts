import type { KeyChild } from "../../../src/protocol/keys.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import type { KeyPart } from "../../../src/protocol/studio-info.js";
import { call } from "../../api/call.js";
import { errorDetails, plainError } from "../../api/call-error.js";
import { keyText } from "../../values/key-text.js";

/** The keys below a prefix that were loaded so far. */
interface Branch {
  readonly children: KeyChild[];
  next: KeyPart | undefined;
  isLoading: boolean;
  error: StudioError | null;
}

/** A line of the tree as it is shown. */
export type TreeLine =
  | {
      readonly kind: "key";
      readonly id: string;
      readonly key: readonly KeyPart[];
      readonly depth: number;
      readonly child: KeyChild;
      readonly isOpen: boolean;
    }
  | {
      readonly kind: "more" | "loading" | "error" | "empty";
      readonly id: string;
      readonly key: readonly KeyPart[];
      readonly depth: number;
      readonly error: StudioError | null;
    };

/** Holds the open branches of the tree of keys, and loads them. */
export class KeyTree {
  readonly root: readonly KeyPart[];
  readonly #branches = new Map<string, Branch>();
  readonly #open = new Set<string>();
  readonly #onChange: () => void;
  #lines: TreeLine[] | null = null;

  constructor(root: readonly KeyPart[], onChange: () => void) {
    this.root = root;
    this.#onChange = onChange;
  }

  /** Returns the visible lines, in the order of the keys. */
  get lines(): readonly TreeLine[] {
    if (this.#lines === null) {
      this.#lines = [];
      this.#write(this.#lines, this.root, 0);
    }
    return this.#lines;
  }

  open(key: readonly KeyPart[]): void {
    const id = keyText(key);
    this.#open.add(id);
    if (!this.#branches.has(id)) void this.load(key);
    else this.#changed();
  }

  close(key: readonly KeyPart[]): void {
    this.#open.delete(keyText(key));
    this.#changed();
  }

  /** Loads the first or the next page of the keys below a prefix. */
  async load(prefix: readonly KeyPart[]): Promise<void> {
    const id = keyText(prefix);
    const branch = this.#branches.get(id) ?? newBranch();
    this.#branches.set(id, branch);
    if (branch.isLoading) return;
    branch.isLoading = true;
    branch.error = null;
    this.#changed();
    try {
      const after = branch.next;
      const page = await call("keys", { prefix, ...(after !== undefined && { after }) });
      branch.children.push(...page.children);
      branch.next = page.next;
      if (page.damage !== undefined) branch.error = plainError(page.damage);
    } catch (error) {
      branch.error = errorDetails(error);
    }
    branch.isLoading = false;
    this.#changed();
  }

  #changed(): void {
    this.#lines = null;
    this.#onChange();
  }

  #write(lines: TreeLine[], prefix: readonly KeyPart[], depth: number): void {
    const id = keyText(prefix);
    const branch = this.#branches.get(id);
    if (branch === undefined) return;
    for (const child of branch.children) {
      const key = [...prefix, child.part];
      const childId = keyText(key);
      const isOpen = child.hasChildren && this.#open.has(childId);
      lines.push({ kind: "key", id: childId, key, depth, child, isOpen });
      if (isOpen) this.#write(lines, key, depth + 1);
    }
    const kind = lastLine(branch);
    if (kind !== null) {
      lines.push({ kind, id: `${kind} ${id}`, key: prefix, depth, error: branch.error });
    }
  }
}

function newBranch(): Branch {
  return { children: [], next: undefined, isLoading: false, error: null };
}

function lastLine(branch: Branch): "more" | "loading" | "error" | "empty" | null {
  if (branch.error !== null) return "error";
  if (branch.isLoading) return "loading";
  if (branch.next !== undefined) return "more";
  return branch.children.length === 0 ? "empty" : null;
}
