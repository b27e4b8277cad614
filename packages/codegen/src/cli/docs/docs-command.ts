import { Command } from "commander";
import { TopicUnknownError } from "../../errors/command-errors.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { reportError } from "../terminal/report-error.js";
import { jsonOption } from "../terminal/run-options.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { columnsOf, helpText, writeText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { findTopic, nearTopics, readPages, type Topic } from "./pages.js";
import { renderPage } from "./render-page.js";

const help = helpText(`
The pages are part of the package, so no network is needed. A topic is a page, a heading of a page, or the
code of an error. A terminal shows the page without markup; other output is Markdown.

Examples:
  $ keywright docs                    list the topics
  $ keywright docs queries
  $ keywright docs queries#pages      only this heading
  $ keywright docs KW_CONFIG_MISSING  what an error means, and what to do

Exit codes: 0 done; 2 wrong usage, such as an unknown topic.`);

export function docsCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return new Command("docs")
    .description("print a page of the documentation, without a network")
    .argument("[topic]", "a page, a heading of a page, or the code of an error")
    .addOption(jsonOption())
    .addHelpText("after", help)
    .action(async (name: string | undefined) => {
      const pages = await readPages();
      if (name === undefined) {
        if (terminal.isJson) writeJson(terminal, { topics: pages.map(withoutText) });
        else writeText(terminal.stdout, topicsText(terminal, pages));
        return exit(exitCodes.done);
      }
      const topic = findTopic(pages, name);
      if (topic === undefined) {
        const near = nearTopics(pages, name);
        reportError(new TopicUnknownError({ topic: name, near }), terminal);
        return exit(exitCodes.usage);
      }
      if (terminal.isJson) writeJson(terminal, topic);
      else terminal.stdout.write(textOf(terminal, topic));
      exit(exitCodes.done);
    });
}

function withoutText({ topic, title, summary }: Topic): Omit<Topic, "text"> {
  return { topic, title, summary };
}

function textOf({ stdout }: Terminal, { topic, text }: Topic): string {
  if (!stdout.isTTY) return text;
  const bold = (heading: string) => styled(stdout, "bold", heading);
  const dim = (code: string) => styled(stdout, "dim", code);
  return renderPage(text, { topic, columns: columnsOf(stdout), bold, dim });
}

function topicsText({ stdout }: Terminal, pages: readonly Topic[]): string {
  const width = Math.max(...pages.map(({ topic }) => topic.length));
  const lines = pages.map(({ topic, summary }) => `  ${topic.padEnd(width)}  ${summary}`);
  return [
    styled(stdout, "bold", "Topics"),
    ...lines,
    "",
    "Each error code is a topic too, and so is each heading of a page. To print one:",
    "  npx keywright docs <topic>",
  ].join("\n");
}
