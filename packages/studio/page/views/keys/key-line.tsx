import type { ComponentChild } from "preact";
import type { KeyEntry } from "../../../src/protocol/keys.js";
import { keyPartText, keyPartType } from "../../values/key-text.js";
import { Text } from "../../values/text.js";
import { countText } from "../../values/value-text.js";
import type { TreeLine } from "./key-tree.js";

interface Props {
  readonly line: TreeLine;
  readonly index: number;
  readonly top: number;
  readonly isActive: boolean;
  readonly isShown: boolean;
  /** Opens or closes the branch. */
  readonly onToggle: () => void;
  /** Shows the entry, or loads more keys. */
  readonly onAct: () => void;
}

/** Shows a line of the tree: the last part of a key, and what is stored there. */
export function KeyLine(props: Props): ComponentChild {
  const { line, index, top, isActive, isShown, onToggle, onAct } = props;
  const hasChildren = line.kind === "key" && line.child.hasChildren;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of all lines.
    <div
      role="treeitem"
      id={`key-${index}`}
      tabIndex={-1}
      class={isActive ? "tree-line is-active" : "tree-line"}
      aria-level={line.depth + 1}
      aria-expanded={line.kind === "key" && hasChildren ? line.isOpen : undefined}
      aria-selected={isShown}
      style={{ transform: `translateY(${top}px)`, paddingLeft: `${8 + line.depth * 18}px` }}
      onClick={onAct}
    >
      {/* The arrow keys do the same, and `aria-expanded` says it. */}
      <span
        class={hasChildren ? "twist" : "twist twist-none"}
        aria-hidden="true"
        onClick={(event) => {
          event.stopPropagation();
          onToggle();
        }}
      >
        {line.kind === "key" && line.isOpen ? "▾" : "▸"}
      </span>
      {line.kind === "key" ? <KeyText line={line} /> : <span>{otherText(line)}</span>}
    </div>
  );
}

function KeyText({ line }: { line: TreeLine & { kind: "key" } }): ComponentChild {
  const { part, entry } = line.child;
  return (
    <>
      <span class={`key-part key-${keyPartType(part)}`}>
        <Text text={keyPartText(part)} />
      </span>
      {entry !== null && (
        <span class="key-info muted">
          <Text text={entry.type} /> · {sizeText(entry)} · {entry.versionstamp}
          {entry.expiresAt !== null && ` · expires ${new Date(entry.expiresAt).toISOString()}`}
        </span>
      )}
    </>
  );
}

function otherText(line: TreeLine): string {
  if (line.kind === "more") return "Load more keys…";
  if (line.kind === "loading") return "Loading…";
  if (line.kind === "error") return `${line.error?.message ?? "Not loaded."} Try again`;
  return "No keys";
}

function sizeText({ bytes }: KeyEntry): string {
  return bytes === null ? "unknown size" : countText(bytes, "byte");
}
