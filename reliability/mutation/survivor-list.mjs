import { explain } from "./explanations.mjs";

/** Returns the part of the page that lists the changes that no test noticed, by area. */
export function survivorList(figures) {
  const parts = Object.entries(figures).map(([area, { changes, noticed, survivors }]) => {
    const heading = `**${area}**: ${changes - noticed} of ${changes} changes were not noticed`;
    if (survivors === undefined) return `${heading}. Their run did not record which.\n`;
    const lines = new Map();
    for (const survivor of survivors) {
      const line = lineOf(survivor);
      lines.set(line, (lines.get(line) ?? 0) + 1);
    }
    const items = [...lines].map(([line, count]) =>
      count === 1 ? line : `${line} (${count} changes)`,
    );
    return items.length === 0 ? `${heading}.\n` : `${heading}:\n\n${items.join("\n")}\n`;
  });
  return `### Changes that no test noticed\n\n${parts.join("\n")}`;
}

function lineOf(survivor) {
  const { file, line } = survivor;
  const reason = explain(survivor) ?? "No reason is known: a test is missing.";
  return `- \`${file}\`, in ${inCode(line)}: ${reason}`;
}

/** Code that contains backticks needs two of them around it. */
function inCode(text) {
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}
