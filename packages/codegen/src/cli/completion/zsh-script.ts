import type { CommandPlace, Values } from "./command-places.js";
import { cases, quoted, stepLines, waitingOptions } from "./shell-words.js";

/** To be sourced after `compinit`, or saved as `_keywright` in a folder of `fpath`. */
export function zshScript(places: readonly CommandPlace[]): string {
  const waiting = waitingOptions(places);
  return `#compdef keywright
# Completion of keywright in zsh. In ~/.zshrc, after compinit: source <(keywright completion zsh)
_keywright() {
  local at='' before='' word
  local -a choices
  for word in "\${(@)words[2,CURRENT-1]}"; do
${stepLines(places)}
  done
  case "$at|$before" in
${cases([...waiting].map(([place, values]) => [place, valueLine(values)]))}
  esac
  if [[ $PREFIX == -* ]]; then
    case "$at" in
${cases(places.map(({ at, options }) => [at, choices(optionChoices(options))]))}
    esac
  else
    case "$at" in
${cases(places.map((place) => [place.at, wordLine(place)]))}
    esac
  fi
  _describe keywright choices
}
if [[ "\${funcstack[1]}" == _keywright ]]; then
  _keywright "$@"
else
  compdef _keywright keywright
fi
`;
}

function valueLine(values: Values): string {
  if (values === "path") return "_files; return";
  if (values === "any") return "return";
  return `${choices(values.map(quoted))}; _describe value choices; return`;
}

function wordLine({ commands, values }: CommandPlace): string {
  if (values === "path") return "_files; return";
  const described = commands.map(({ name, description }) => choice(name, description));
  return choices([...described, ...(typeof values === "object" ? values.map(quoted) : [])]);
}

function optionChoices(options: CommandPlace["options"]): string[] {
  return options.flatMap(({ names, description }) =>
    names.map((name) => choice(name, description)),
  );
}

function choices(words: readonly string[]): string {
  return words.length === 0 ? "" : `choices=(${words.join(" ")})`;
}

/** Returns a choice with its description, which begins after the first unescaped colon. */
function choice(name: string, description: string): string {
  return quoted(`${name.replaceAll(":", "\\:")}:${description}`);
}
