import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { typescriptLanguage } from "@codemirror/lang-javascript";
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Colors are variables of the style sheet, which has those of the light and the dark theme. */
const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-literal)" },
  { tag: tags.comment, color: "var(--code-comment)" },
  { tag: [tags.propertyName, tags.function(tags.variableName)], color: "var(--code-name)" },
  { tag: [tags.typeName, tags.className], color: "var(--code-type)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "inherit", color: "var(--vp-c-text-1)" },
  "&.cm-focused": { outline: "2px solid var(--vp-c-brand-1)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--vp-font-family-mono)", lineHeight: "1.6" },
  ".cm-content": { padding: "0.75rem 0", caretColor: "var(--vp-c-text-1)" },
  ".cm-gutters": { background: "transparent", color: "var(--vp-c-text-3)", border: "none" },
});

/**
 * Makes an editor of programs.
 *
 * @param onChange is called with the text after each change of it.
 * @param onRun is called if Ctrl+Enter is pressed, or Cmd+Enter on a Mac.
 */
export function createEditor({ parent, text, label, onChange, onRun }) {
  const runKey = {
    key: "Mod-Enter",
    run: () => {
      onRun();
      return true;
    },
  };
  const extensions = [
    Prec.highest(keymap.of([runKey])),
    lineNumbers(),
    history(),
    indentOnInput(),
    bracketMatching(),
    // Escape, then Tab, leaves the editor: the view of CodeMirror sees to it.
    keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
    typescriptLanguage,
    syntaxHighlighting(colors),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({
      "aria-label": label,
      "aria-describedby": "editor-keys",
      // The frame around it scrolls, and a screen reader has to find what is focused there.
      tabindex: "0",
    }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
    look,
  ];
  const stateOf = (doc) => EditorState.create({ doc, extensions });
  const view = new EditorView({ parent, state: stateOf(text) });
  return {
    /** Shows another program, whose changes cannot be undone to those of the one before. */
    show: (program) => view.setState(stateOf(program)),
    close: () => view.destroy(),
  };
}
