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
the page. Nothing is sent to a server, and after the page has loaded, it works without a network.

A program is stopped if its last statement has not run after ${timeLimit / 1000} seconds. Later, it continues to react to timers,
buttons and live queries. It is then stopped if it keeps its thread busy for ${silenceLimit / 1000} seconds.

Programs can import \`@keywright/core\`, \`@keywright/core/tools\`, \`@keywright/orm\`, \`@keywright/orm/migrate\` and \`zod\`. The
module \`playground\` exists only here: \`show(title, query)\` draws the results of a live query as a table, and
\`button(label, action)\` adds a button. Types are not checked here: what the compiler would refuse, such as a query that
no index serves, fails when the program runs. Zod has only its English messages.

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
