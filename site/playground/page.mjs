import { budgets } from "./budgets.mjs";
import { examples } from "./examples.mjs";
import { silenceLimit, timeLimit } from "./run-program.mjs";

/** The page of the playground: the component, what it is, and the examples as text. */
export function playgroundPage() {
  const parts = examples().map(
    ({ title, about, program, output }) => `### ${title}

${about}

\`\`\`ts
${program}\`\`\`

\`\`\`text
${output}\`\`\`
`,
  );
  return `# Playground

Edit a program, run it in this page on a database in memory, and see which keys and values it stores.

<Playground />

## What runs here

\`@keywright/core\` and \`@keywright/orm\` run in [your browser](./runtimes.md#browsers), in a worker without access to
the page. Nothing is sent to a server, and after the page has loaded, it works without a network. A program that has not
finished after ${timeLimit / 1000} seconds, or that keeps its thread busy for ${silenceLimit / 1000} seconds after that, is stopped.

Programs can import \`@keywright/core\`, \`@keywright/core/tools\`, \`@keywright/orm\`, \`@keywright/orm/migrate\` and \`zod\`. The
module \`playground\` exists only here: \`show(title, query)\` draws the results of a live query as a table, and
\`button(label, action)\` adds a button. Types are removed before a program runs, but not checked: what the compiler would
refuse, such as a query that no index serves, fails when it runs. Zod has only its English messages here.

Only this page loads the editor (at most ${budgets.editor} kB, compressed) and the database with Zod and Sucrase, which removes the
types (at most ${budgets.worker} kB). A test measures both.

## The examples

Each example with what it prints.

${parts.join("\n")}`;
}

/** Returns the page without what only a browser can show. */
export function textOfPlayground(text) {
  return text.replace("<Playground />\n\n", "");
}
