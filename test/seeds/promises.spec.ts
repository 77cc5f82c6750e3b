import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCUMENTS } from './promises/index.js';
import type { Promised, Section } from './promise.js';

const root = join(import.meta.dirname, '../..');
const sections = DOCUMENTS.flatMap((document) => document.sections);
const promises = sections.flatMap((section) => Object.values(section.promises));

const isHere = ({ provenBy }: Promised): boolean => provenBy === undefined;

/** Each exported section with its name. */
const named = await Promise.all(
  readdirSync(join(import.meta.dirname, 'promises'))
    .filter((file) => file !== 'index.ts')
    .map((file) => import(`./promises/${file.replace(/ts$/, 'js')}`)),
);
const sectionsByName = Object.assign({}, ...named) as Record<string, Section>;

const proofs = readdirSync(join(import.meta.dirname, 'proofs')).map((file) =>
  readFileSync(join(import.meta.dirname, 'proofs', file), 'utf8'),
);

describe('the promises of the founding documents', () => {
  it.each(promises.filter((promise) => !isHere(promise)))(
    'the named test exists: $provenBy.file: $provenBy.test',
    ({ provenBy }) => {
      const { file = '', test = '' } = provenBy ?? {};
      const text = readFileSync(join(root, file), 'utf8');
      expect([test, `'${test.replaceAll("'", "\\'")}'`].some((one) => text.includes(one))).toBe(
        true,
      );
    },
  );

  it('every section is in the list of documents', () => {
    expect(new Set(Object.values(sectionsByName))).toEqual(new Set(sections));
  });

  it('a spec proves each section with promises of its own', () => {
    const own = Object.entries(sectionsByName).filter(([, { promises: all }]) =>
      Object.values(all).some(isHere),
    );
    const unproven = own
      .map(([name]) => name)
      .filter((name) => !proofs.some((text) => text.includes(`prove(${name}, {`)));
    expect(unproven).toEqual([]);
  });

  it('each promise is named once in its section', () => {
    for (const { title, promises: all } of sections) {
      const words = Object.values(all).map(({ says }) => says);
      expect([title, new Set(words).size]).toEqual([title, words.length]);
    }
  });
});
