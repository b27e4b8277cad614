import type { ComponentChild } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { KeyEntry } from "../../../src/protocol/keys.js";
import { CopyButton } from "../../parts/copy-button.js";
import { keyText } from "../../values/key-text.js";
import { Text } from "../../values/text.js";
import { FullValue } from "../../values/value.js";
import { countText } from "../../values/value-text.js";

interface Props {
  readonly entry: KeyEntry;
  readonly onClose: () => void;
}

/** Shows an entry next to the tree: its key, its value and its versionstamp. Escape closes it. */
export function EntryPanel({ entry, onClose }: Props): ComponentChild {
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") close.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  const { key, versionstamp, expiresAt, bytes, type, value } = entry;
  return (
    <aside class="panel" aria-label="Entry">
      <button type="button" class="plain panel-close" aria-label="Close entry" onClick={onClose}>
        ✕
      </button>
      <h2 class="row-title">
        <code>
          <Text text={keyText(key)} />
        </code>
      </h2>
      <div class="tools">
        <CopyButton label="Copy key" text={keyText(key)} />
      </div>
      <dl class="fields">
        <div>
          <dt>Type</dt>
          <dd>
            <Text text={type} />
          </dd>
        </div>
        <div>
          <dt>Size</dt>
          <dd>{bytes === null ? "unknown" : countText(bytes, "byte")}</dd>
        </div>
        <div>
          <dt>Versionstamp</dt>
          <dd>
            <code>{versionstamp}</code>
          </dd>
        </div>
        <div>
          <dt>Expires</dt>
          <dd>{expiresAt === null ? "never" : new Date(expiresAt).toISOString()}</dd>
        </div>
        <div>
          <dt>Value</dt>
          <dd>
            <FullValue value={value} />
          </dd>
        </div>
      </dl>
    </aside>
  );
}
