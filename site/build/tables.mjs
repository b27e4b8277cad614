/** Lets wide tables scroll, also with the keyboard. An empty cell of a header is no header. */
export function tablesCanScroll(markdown) {
  const { rules } = markdown.renderer;
  rules.table_open = () =>
    '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n';
  rules.table_close = () => "</table></div>\n";
  markdown.core.ruler.push("empty_headers", ({ tokens }) => {
    for (const [place, token] of tokens.entries()) {
      if (token.type !== "th_open" || tokens[place + 1].content !== "") continue;
      token.tag = "td";
      tokens[place + 2].tag = "td";
    }
  });
}
