import { expect, it } from '@jest/globals';
import { lintOpenApi } from './openapi-lint.js';

const GOOD = {
  operationId: 'createThing',
  summary: 'Make a thing',
  description: 'Callers: anybody.',
  tags: ['Things'],
  security: [],
  responses: { '200': { description: 'Made' }, '4XX': { description: 'Refused' } },
};

const lint = (change: object, schemas = {}, morePaths = {}) =>
  lintOpenApi(
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'T', version: '1', license: { name: 'L', url: 'https://license.example' } },
      servers: [{ url: '/' }],
      tags: [{ name: 'Things', description: 'All of them' }],
      paths: { '/things': { post: { ...GOOD, ...change } }, ...morePaths },
      components: { schemas },
    }),
  );

it('a valid document has no finding', async () => {
  expect(await lint({})).toEqual([]);
});

it.each([
  ['no id', { operationId: undefined }, 'rule/operation-id'],
  ['an id without a verb', { operationId: 'thing' }, 'rule/operation-id'],
  ['no description', { description: undefined }, 'operation-description'],
  ['no word of who may call', { security: undefined }, 'security-defined'],
  ['a group that nothing describes', { tags: ['Other'] }, 'operation-tag-defined'],
  ['no refusal', { responses: { '200': { description: 'Made' } } }, 'operation-4xx-response'],
])('the lint finds %s', async (_, change, rule) => {
  const problems = await lint(change);
  expect(problems).not.toEqual([]);
  for (const problem of problems) expect(problem).toMatch(/^#\/paths\/\/things\/post.*: /);
  expect(problems.join('\n')).toContain(`(${rule})`);
});

it('the lint finds a duplicate operation id', async () => {
  const problems = await lint({}, {}, { '/others': { post: GOOD } });
  expect(problems.join('\n')).toContain('(operation-operationId-unique)');
});

it('the lint finds keywords that OpenAPI 3.1 removed', async () => {
  expect(await lint({}, { Thing: { type: 'string', nullable: true } })).toEqual(
    expect.arrayContaining([expect.stringContaining('`nullable`')]),
  );
});

it.each(['ThingDto', 'ThingDoc'])('a schema cannot be named %s', async (name) => {
  const problems = await lint({}, { [name]: { type: 'string' } });
  expect(problems.filter((problem) => problem.endsWith('(rule/schema-name)'))).toHaveLength(1);
});
