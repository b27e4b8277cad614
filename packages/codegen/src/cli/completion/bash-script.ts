import type { CommandPlace, Values } from "./command-places.js";
import { cases, stepLines, waitingOptions } from "./shell-words.js";

/**
 * Returns a completion script for bash 3.2 and later. It needs no other script. It only compares
 * what was typed, and never runs it.
 *
 * The script goes through the words. `at` is the command that they lead to so far, and `before` is
 * the previous word.
 */
export function bashScript(places: readonly CommandPlace[]): string {
  const waiting = waitingOptions(places);
  return `# Completion of keywright in bash. In ~/.bashrc: source <(keywright completion bash)
_keywright() {
  local IFS=$'\\n' cur="\${COMP_WORDS[COMP_CWORD]}" at='' before='' word i choices=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ $word == '=' ]] && continue
${stepLines(places)}
  done
  [[ $cur == '=' ]] && cur=''
  case "$at|$before" in
${cases([...waiting].map(([place, values]) => [place, valueLine(values)]))}
  esac
  if [[ $cur == -* ]]; then
    case "$at" in
${cases(places.map(({ at, options }) => [at, choices(options.flatMap(({ names }) => names))]))}
    esac
  else
    case "$at" in
${cases(places.map((place) => [place.at, wordLine(place)]))}
    esac
  fi
  COMPREPLY=($(compgen -W "$choices" -- "$cur"))
}
complete -F _keywright keywright
`;
}

const files = 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); return';

function valueLine(values: Values): string {
  if (values === "path") return files;
  if (values === "any") return "return";
  return `${choices(values)}; COMPREPLY=($(compgen -W "$choices" -- "$cur")); return`;
}

function wordLine({ commands, values }: CommandPlace): string {
  if (values === "path") return files;
  return choices([
    ...commands.map(({ name }) => name),
    ...(typeof values === "object" ? values : []),
  ]);
}

/** Separates the words by line feeds, because the script sets `IFS` to a line feed. */
function choices(words: readonly string[]): string {
  return words.length === 0 ? "" : `choices=$'${words.join("\\n")}'`;
}
