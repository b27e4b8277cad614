// Module hooks that add a call to each function of core and orm, which reports its file, line and
// name when it begins.
import ts from "typescript";

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  const [, file] = /\/packages\/((?:core|orm)\/dist\/.*)$/.exec(url) ?? [];
  if (file === undefined) return loaded;
  return { ...loaded, source: withReports(file, loaded.source.toString()) };
}

function withReports(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const added = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      const name = JSON.stringify(`${file}:${line + 1} ${nameOf(node)}`);
      const report = `keywrightCalled(${name})`;
      const start = node.body.getStart();
      if (ts.isBlock(node.body)) added.push([start + 1, `${report};`]);
      else added.push([start, `(${report}, `], [node.body.getEnd(), ")"]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  // Stable, so that of two texts at one place the outer one begins first and the inner ends first.
  const inOrder = added.map((each, i) => [...each, i]).sort(([a, , i], [b, , j]) => a - b || i - j);
  let result = "";
  let from = 0;
  for (const [at, insertion] of inOrder) {
    result += text.slice(from, at) + insertion;
    from = at;
  }
  return result + text.slice(from);
}

/** Returns the name of a function, or of the variable, property or function that it is given to. */
function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) return `${node.parent.name?.text ?? ""}.constructor`;
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent))
    return parent.name.getText();
  return ts.isCallExpression(parent) ? `callback of ${parent.expression.getText()}` : "callback";
}
