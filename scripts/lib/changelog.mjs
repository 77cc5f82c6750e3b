// The next version, and the changelog of a release.
import { Sentence } from './step.mjs';

const UNRELEASED = '## Unreleased\n';
const FORM = /^(\d+)\.(\d+)\.(\d+)$/;

/**
 * @param named the wanted version. Undefined: the next minor version, or the next patch if all
 *   entries are fixes
 * @throws Sentence if it is no later version
 */
export function nextVersion(current, changelog, named) {
  const [major, minor, patch] = numbersOf(current);
  if (named === undefined) {
    const headings = [...unreleased(changelog).matchAll(/^### (\w+)$/gm)].map(([, word]) => word);
    const onlyFixes = headings.length > 0 && headings.every((word) => word === 'Fixed');
    return onlyFixes ? `${major}.${minor}.${patch + 1}` : `${major}.${minor + 1}.0`;
  }
  const wanted = numbersOf(named);
  const at = [major, minor, patch].findIndex((number, index) => number !== wanted[index]);
  if (at === -1 || wanted[at] < [major, minor, patch][at])
    throw new Sentence(`${named} is not later than ${current}.`);
  return named;
}

/**
 * Moves the entries of "Unreleased" to a version.
 *
 * @returns the whole text, and the section of the version
 * @throws Sentence if there is no entry
 */
export function release(changelog, version, date) {
  const entries = unreleased(changelog);
  if (!/^- /m.test(entries)) throw new Sentence('CHANGELOG.md has no entry below "Unreleased".');
  const section = `## ${version} (${date})\n${entries}`;
  const text = changelog.replace(UNRELEASED + entries, () => `${UNRELEASED}\n${section}`);
  return { text, section };
}

function unreleased(changelog) {
  const [, rest] = changelog.split(UNRELEASED);
  if (rest === undefined) throw new Sentence('CHANGELOG.md has no section "Unreleased".');
  const next = rest.search(/^## /m);
  return next === -1 ? rest : rest.slice(0, next);
}

function numbersOf(version) {
  const match = FORM.exec(version);
  if (match === null) throw new Sentence(`${version} is no version such as 1.2.0.`);
  return match.slice(1).map(Number);
}
