import type { ComponentChild } from "preact";
import { useEffect, useMemo, useReducer, useState } from "preact/hooks";
import type { KeyEntry } from "../../../src/protocol/keys.js";
import type { KeyPart } from "../../../src/protocol/studio-info.js";
import { plainError } from "../../api/call-error.js";
import { useCall } from "../../api/use-call.js";
import { keysHref } from "../../navigation/links.js";
import type { Route } from "../../navigation/route.js";
import { ErrorNote } from "../../parts/error-note.js";
import { keyPartText, keyText, parseKey } from "../../values/key-text.js";
import { Text } from "../../values/text.js";
import { EntryPanel } from "./entry-panel.js";
import { KeyList } from "./key-list.js";
import { KeyTree } from "./key-tree.js";

/** Shows all keys of the database as a tree. */
export function KeysView({ route }: { route: Route }): ComponentChild {
  const text = route.params.get("prefix") ?? "[]";
  const read = useMemo(() => readKey(text), [text]);
  return (
    <section class="keys-view">
      <header class="rows-header">
        <h1>Keys</h1>
        <PrefixForm key={text} text={text} />
      </header>
      {"message" in read ? (
        <ErrorNote error={plainError(read.message)} />
      ) : (
        <Tree key={text} prefix={read.key} />
      )}
    </section>
  );
}

function PrefixForm({ text }: { text: string }): ComponentChild {
  const [draft, setDraft] = useState(text === "[]" ? "" : text);
  return (
    <form
      class="query-bar"
      aria-label="Prefix"
      onSubmit={(event) => {
        event.preventDefault();
        const read = readKey(draft);
        const params = new URLSearchParams({ prefix: draft });
        location.hash = "key" in read ? keysHref(read.key) : `#/keys?${params}`;
      }}
    >
      <label class="field-inline">
        <span>Keys that begin with</span>
        <input
          type="text"
          class="prefix-input"
          value={draft}
          placeholder={'["users", 1, 2n, true]'}
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => setDraft(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary">
        Show
      </button>
    </form>
  );
}

function Tree({ prefix }: { prefix: readonly KeyPart[] }): ComponentChild {
  const [, render] = useReducer<number, void>((count) => count + 1, 0);
  const tree = useMemo(() => new KeyTree(prefix, () => render(undefined)), [prefix]);
  const [entry, setEntry] = useState<KeyEntry | null>(null);
  useEffect(() => void tree.load(prefix), [tree, prefix]);
  // The prefix may be the whole key of an entry, which the tree below it does not have.
  const own = useCall("entry", { key: prefix });
  useEffect(() => setEntry(own.data), [own.data]);
  return (
    <>
      {prefix.length > 0 && <Path prefix={prefix} />}
      <div class="rows-body">
        <KeyList tree={tree} shown={entry === null ? null : keyText(entry.key)} onShow={setEntry} />
        {entry !== null && (
          <EntryPanel
            entry={entry}
            onClose={() => {
              setEntry(null);
              document.getElementById("keys")?.focus();
            }}
          />
        )}
      </div>
    </>
  );
}

/** The keys above, as links. */
function Path({ prefix }: { prefix: readonly KeyPart[] }): ComponentChild {
  return (
    <nav aria-label="Prefix" class="key-path">
      <a href={keysHref([])}>all keys</a>
      {prefix.map((part, index) => (
        <span key={index}>
          {" › "}
          <a href={keysHref(prefix.slice(0, index + 1))}>
            <Text text={keyPartText(part)} />
          </a>
        </span>
      ))}
    </nav>
  );
}

function readKey(text: string): { key: KeyPart[] } | { message: string } {
  try {
    return { key: parseKey(text) };
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
}
