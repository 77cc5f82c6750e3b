import { expect, it } from '@jest/globals';
import { join } from 'node:path';

const module = join(import.meta.dirname, '../../scripts/lib/changelog.mjs');
const { nextVersion, release } = (await import(module)) as {
  nextVersion(current: string, changelog: string, named?: string): string;
  release(changelog: string, version: string, date: string): { text: string; section: string };
};

const changelog = (headings: string) => `# Changelog

## Unreleased

${headings}
## 0.1.0 (2026-01-01)

### Added

- The first.
`;
const fixes = changelog('### Fixed\n\n- A mistake.\n');
const additions = changelog('### Added\n\n- A $& page.\n\n### Fixed\n\n- A mistake.\n');

it('a release of fixes is a patch, another one a minor version, and a person can name a later one', () => {
  expect(nextVersion('0.1.9', fixes)).toBe('0.1.10');
  expect(nextVersion('0.1.9', additions)).toBe('0.2.0');
  expect(nextVersion('0.9.9', fixes, '1.0.0')).toBe('1.0.0');
  for (const named of ['0.1.9', '0.1.8', '0.0.10', '1.0', 'latest']) {
    expect(() => nextVersion('0.1.9', fixes, named)).toThrow(/not later|no version/);
  }
});

it('a release moves the entries below its version and date, and needs an entry', () => {
  const { text, section } = release(additions, '0.2.0', '2026-02-03');
  expect(text).toBe(
    additions.replace('## Unreleased\n', '## Unreleased\n\n## 0.2.0 (2026-02-03)\n'),
  );
  expect(section).toMatch(/^## 0\.2\.0 \(2026-02-03\)\n\n### Added\n\n- A \$& page\./);
  expect(section).not.toContain('The first.');
  expect(() => release(changelog(''), '0.2.0', '2026-02-03')).toThrow(/no entry/);
});
