import type { CommandPlace, OptionPlace } from "./command-places.js";
import { steps, waitingOptions } from "./shell-words.js";

/** To be sourced, or saved as `~/.config/fish/completions/keywright.fish`. */
export function fishScript(places: readonly CommandPlace[]): string {
  return `# Completion of keywright in fish. In ~/.config/fish/config.fish: keywright completion fish | source
function __keywright_at --description 'True if the words lead to a command'
    set -l at ''
    set -l before ''
    set -l typed (commandline -opc)
    for word in $typed[2..-1]
        switch "$at|$before"
            case ${[...waitingOptions(places).keys()].map(fishQuoted).join(" ")}
                set before ''
                continue
        end
        set before $word
        switch "$at|$word"
            case ${steps(places).map(fishQuoted).join(" ")}
                set at (string trim -- "$at $word")
                set before ''
        end
    end
    test "$at" = "$argv[1]"
end
complete -c keywright -e
complete -c keywright -f
${places.flatMap(placeLines).join("\n")}
`;
}

function placeLines({ at, commands, options, values }: CommandPlace): string[] {
  const start = `complete -c keywright -n ${fishQuoted(`__keywright_at ${fishQuoted(at)}`)}`;
  const named = typeof values === "object" ? values : [];
  return [
    ...commands.map(
      ({ name, description }) => `${start} -a ${fishQuoted(name)} -d ${fishQuoted(description)}`,
    ),
    ...named.map((name) => `${start} -a ${fishQuoted(name)}`),
    ...(values === "path" ? [`${start} -F`] : []),
    ...options.map((option) => `${start}${optionFlags(option)}`),
  ];
}

function optionFlags({ names, description, values }: OptionPlace): string {
  const flags = names.map((name) =>
    name.startsWith("--") ? ` -l ${fishQuoted(name.slice(2))}` : ` -s ${fishQuoted(name.slice(1))}`,
  );
  return `${flags.join("")}${valueFlags(values)} -d ${fishQuoted(description)}`;
}

function valueFlags(values: OptionPlace["values"]): string {
  if (values === undefined) return "";
  if (values === "path") return " -r -F";
  return values === "any" ? " -x" : ` -x -a ${fishQuoted(values.join(" "))}`;
}

/** Quotes a text with single quotes. Inside, a backslash escapes a backslash or a quote. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
