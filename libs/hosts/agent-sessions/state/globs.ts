/** A test of paths against globs with `*` within a part, and `**` for any number of parts. */
export interface GlobTest {
  matches(path: string): boolean;
  /** True if a path below this folder can match. */
  leadsOn(folder: string): boolean;
}

export function testOf(globs: readonly string[]): GlobTest {
  const all = globs.map((glob) => glob.split('/').map(toPart));
  return {
    matches: (path) => all.some((glob) => fits(glob, path.split('/'), false)),
    leadsOn: (folder) => all.some((glob) => fits(glob, folder.split('/'), true)),
  };
}

type Part = RegExp | '**';

function toPart(part: string): Part {
  if (part === '**') return part;
  const literal = part.split('*').map((text) => text.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`, 's');
}

/** @param isStart whether the path can be the start of a match */
function fits([first, ...glob]: Part[], [name, ...rest]: string[], isStart: boolean): boolean {
  if (name === undefined)
    return isStart || first === undefined || (first === '**' && glob.length === 0);
  if (first === undefined) return false;
  if (first !== '**') return first.test(name) && fits(glob, rest, isStart);
  return fits(glob, [name, ...rest], isStart) || fits([first, ...glob], rest, isStart);
}
