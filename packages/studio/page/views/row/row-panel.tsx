import type { ComponentChild } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Row, VersionedRow } from "../../../src/protocol/rows.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { RowDetails } from "./row-details.js";

interface Props {
  readonly model: ModelInfo;
  readonly rowKey: Row;
  /** Another number after the row has changed, so that it is read again. */
  readonly stamp: number;
  readonly onClose: () => void;
  readonly onChanged: (now: VersionedRow | null) => void;
}

/** Shows a row next to the table. Escape closes it. */
export function RowPanel({ model, rowKey, stamp, onClose, onChanged }: Props): ComponentChild {
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // An open dialog closes first.
      if (event.key !== "Escape" || document.querySelector("dialog[open]") !== null) return;
      close.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  return (
    <aside class="panel" aria-label="Row">
      <button type="button" class="plain panel-close" aria-label="Close row" onClick={onClose}>
        ✕
      </button>
      <RowDetails model={model} rowKey={rowKey} stamp={stamp} level="h2" onChanged={onChanged} />
    </aside>
  );
}
