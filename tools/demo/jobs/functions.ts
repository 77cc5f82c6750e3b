import ts from 'typescript';
import { listedFiles, number, progress, readText, runJob } from './support.js';

interface Found {
  name: string;
  path: string;
  line: number;
  lines: number;
}

function nameOf(node: ts.Node, source: ts.SourceFile): string {
  const named = node as ts.Node & { name?: ts.Node };
  if (named.name) return named.name.getText(source);
  const parent = node.parent as ts.Node & { name?: ts.Node };
  return parent.name?.getText(source) ?? '(anonymous)';
}

function functionsIn(path: string, text: string): Found[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const found: Found[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
      const last = source.getLineAndCharacterOfPosition(node.end).line + 1;
      found.push({ name: nameOf(node, source), path, line, lines: last - line + 1 });
    }
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

await runJob('functions', (context) => {
  const files = listedFiles(context).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('spec.ts'),
  );
  const found = files.flatMap((path, index) => {
    if (index % 20 === 0) progress(index, files.length, path);
    return functionsIn(path, readText(context, path));
  });
  const longest = found.sort((a, b) => b.lines - a.lines).slice(0, 5);
  const short = found.filter(({ lines }) => lines <= 12).length;
  const share = found.length === 0 ? 0 : Math.round((short / found.length) * 100);
  return {
    summary: `${number(found.length)} functions, ${share} % of at most 12 lines, the longest ${longest[0]?.lines ?? 0}`,
    functions: found.length,
    longest,
  };
});
