import { useVirtualizer } from "@tanstack/react-virtual";
import type { ComponentChild } from "preact";
import { useRef, useState } from "preact/hooks";
import type { KeyEntry } from "../../../src/protocol/keys.js";
import { KeyLine } from "./key-line.js";
import type { KeyTree, TreeLine } from "./key-tree.js";

const lineHeight = 28;

interface Props {
  readonly tree: KeyTree;
  /** The key of the entry that the panel shows, or null. */
  readonly shown: string | null;
  readonly onShow: (entry: KeyEntry) => void;
}

/** Shows the lines of the tree, of which only the visible ones are in the page. */
export function KeyList({ tree, shown, onShow }: Props): ComponentChild {
  const { lines } = tree;
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 12,
  });

  const items = virtual.getVirtualItems();
  // A line that is scrolled away is not in the page.
  const hasActive = items.some(({ index }) => index === active);

  const moveTo = (index: number) => {
    const next = Math.max(0, Math.min(lines.length - 1, index));
    setActive(next);
    virtual.scrollToIndex(next, { align: "auto" });
  };
  const act = (line: TreeLine) => {
    if (line.kind === "more" || line.kind === "error") void tree.load(line.key);
    else if (line.kind === "key" && line.child.entry !== null) onShow(line.child.entry);
    else if (line.kind === "key") toggle(tree, line);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const line = lines[active];
    if (line === undefined) return;
    if (event.key === "ArrowDown") moveTo(active + 1);
    else if (event.key === "ArrowUp") moveTo(active - 1);
    else if (event.key === "Home") moveTo(0);
    else if (event.key === "End") moveTo(lines.length - 1);
    else if (event.key === "ArrowRight") {
      if (line.kind === "key" && line.child.hasChildren && !line.isOpen) tree.open(line.key);
      else if (line.kind === "key" && line.isOpen) moveTo(active + 1);
    } else if (event.key === "ArrowLeft") {
      if (line.kind === "key" && line.isOpen) tree.close(line.key);
      else moveTo(parentOf(lines, active));
    } else if (event.key === "Enter" || event.key === " ") act(line);
    else return;
    event.preventDefault();
  };

  return (
    <div
      id="keys"
      class="tree"
      role="tree"
      aria-label="Keys"
      tabIndex={0}
      ref={scroller}
      aria-activedescendant={hasActive ? `key-${active}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" class="tree-body" style={{ height: `${virtual.getTotalSize()}px` }}>
        {items.map((item) => {
          const line = lines[item.index];
          return line === undefined ? null : (
            <KeyLine
              key={line.id}
              line={line}
              index={item.index}
              top={item.start}
              isActive={item.index === active}
              isShown={line.kind === "key" && line.id === shown}
              onToggle={() => {
                setActive(item.index);
                if (line.kind === "key") toggle(tree, line);
              }}
              onAct={() => {
                setActive(item.index);
                act(line);
              }}
            />
          );
        })}
      </div>
    </div>
  );
}

function toggle(tree: KeyTree, line: TreeLine & { kind: "key" }): void {
  if (line.isOpen) tree.close(line.key);
  else if (line.child.hasChildren) tree.open(line.key);
}

function parentOf(lines: readonly TreeLine[], index: number): number {
  const depth = lines[index]?.depth ?? 0;
  for (let place = index - 1; place >= 0; place -= 1) {
    if ((lines[place]?.depth ?? 0) < depth) return place;
  }
  return index;
}
