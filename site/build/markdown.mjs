const codeBlock = /(^ *```[\s\S]*?^ *```$)/m;
const inlineCode = "`[^`\\n]+`";
const link = new RegExp(
  `${inlineCode}|(!?)\\[((?:${inlineCode}|[^\\]\`])*)\\]\\((?!\\w+:|#)([^)\\s]+)\\)`,
  "g",
);

/**
 * Replaces the links of a page that lead to other pages or files. Code is not changed.
 *
 * @param newTarget returns the new target of a link, or undefined if only its label is to be left.
 */
export function replaceLinks(text, newTarget) {
  return outsideBlocks(text, (part) =>
    part
      .replaceAll(link, (all, mark, label, target) => {
        if (target === undefined) return all;
        const changed = newTarget(target);
        return changed === undefined ? label : `${mark}[${label}](${changed})`;
      })
      .replaceAll(/\b(src|srcset)="(?!\w+:)([^"]+)"/g, (all, name, target) => {
        const changed = newTarget(target);
        return changed === undefined ? all : `${name}="${changed}"`;
      }),
  );
}

/** Applies a function to the parts of a page that are not code blocks. */
function outsideBlocks(text, change) {
  // Every second part is a code block.
  return text
    .split(codeBlock)
    .map((part, place) => (place % 2 === 0 ? change(part) : part))
    .join("");
}

/** Returns the first heading and the first paragraph after it, without markup. */
export function headOf(text) {
  const [, title = ""] = /^# (.+)$/m.exec(text) ?? [];
  const after = text.slice(text.indexOf(`# ${title}`) + title.length + 2);
  const paragraphs = after.split(/\n{2,}/).map((part) => part.trim());
  const first = paragraphs.find((part) => /^[\p{L}`[*@]/u.test(part)) ?? "";
  return { title: plain(title), description: plain(first.replaceAll("\n", " ")) };
}

/** Returns a text of Markdown without links, code marks and emphasis. */
export function plain(text) {
  return text.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");
}
